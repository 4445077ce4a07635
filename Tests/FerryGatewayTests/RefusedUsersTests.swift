import Testing

@testable import FerryGateway

@Suite("RefusedUsers") struct RefusedUsersTests {
    @Test("RefusedUsers: each user is reported at once, then with the number of connections after ten minutes")
    func refused() {
        let start = ContinuousClock.now
        var users = RefusedUsers()
        #expect(users.refused(7, at: start) == 1)
        #expect(users.refused(7, at: start + .seconds(1)) == nil)
        #expect(users.refused(8, at: start + .seconds(1)) == 1)
        #expect(users.refused(7, at: start + .seconds(600)) == 2)
    }
}
