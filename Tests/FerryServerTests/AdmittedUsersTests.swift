import FerryCore
import Testing

@testable import FerryServer

@Suite("AdmittedUsers", .timeLimit(.minutes(30)))
struct AdmittedUsersTests {
    private struct Accounts: UserAccounts {
        let names: [String: UInt32] = ["ferry": 1000, "_apt": 42, "ci": 1001]
        func number(of name: String) -> UInt32? { names[name] }
        func name(of number: UInt32) -> String? { names.first { $0.value == number }?.key }
    }

    private func users(_ others: [String], subordinates: String = "", unmapped: UInt32? = nil) throws -> AdmittedUsers {
        try AdmittedUsers(
            own: 1000, others: others, subordinates: subordinates, unmapped: unmapped, accounts: Accounts())
    }

    @Test("AdmittedUsers: the daemon's user and root are admitted, and other users and absent peers are not")
    func own() {
        let users = AdmittedUsers(own: 1000, unmapped: nil)
        #expect(users.admits(.user(1000)) && users.admits(.user(0)))
        #expect(!users.admits(.user(1001)) && !users.admits(.absent))
        #expect(!AdmittedUsers(own: 0, unmapped: nil).admits(.user(1000)))
        #expect(users.admits(.unknowable))
        #expect(AdmittedUsers.everyone.admits(.user(5)) && AdmittedUsers.everyone.admits(.absent))
    }

    @Test("AdmittedUsers: users are added by name and number, all admits everybody, an unknown name is refused")
    func named() throws {
        let users = try users(["_apt", "77", ""])
        for number in [0, 42, 77, 1000] as [UInt32] { #expect(users.admits(.user(number)), "\(number)") }
        #expect(!users.admits(.user(1001)))
        #expect(try self.users(["all"]).admits(.user(1001)))
        #expect(throws: TextError.self) { try self.users(["nobody-here"]) }
        #expect(throws: TextError.self) { try self.users(["4294967295"]) }
    }

    @Test("AdmittedUsers: requests of root are the own user's, and unreported ones too if nobody else is admitted")
    func claimants() throws {
        let alone = AdmittedUsers(own: 1000, unmapped: nil)
        #expect(alone.claimant(nil) == .own && alone.claimant(1000) == .own && alone.claimant(0) == .own)
        for users in [try users(["_apt"]), try users(["all"]), try users([], subordinates: "1000:100000:65536")] {
            #expect(users.claimant(1000) == .own && users.claimant(0) == .own)
            #expect(users.claimant(42) == .other(42) && users.claimant(nil) == .other(nil))
        }
    }

    @Test(
        "Portions: another user holds a part at most, all others together three quarters")
    func portions() {
        var portions = Portions(16, ofOther: 8)
        func take(_ steps: [(Int, Claimant, Bool)]) {
            for (amount, claimant, isGiven) in steps {
                let isTaken = portions.take(amount, for: claimant)
                #expect(isTaken == isGiven, "\(amount) for \(claimant)")
            }
        }
        take([(9, .other(1), false), (8, .other(1), true), (1, .other(1), false), (0, .other(1), true)])
        take([
            (5, .other(nil), false), (4, .other(nil), true), (1, .other(2), false), (5, .own, false), (4, .own, true),
        ])
        #expect(portions.held == 16 && !portions.hasRoom)
        portions.giveBack(8, of: .other(1))
        take([(8, .own, true), (1, .other(1), false)])
        portions.giveBack(8, of: .own)
        take([(7, .other(2), true), (1, .other(1), true), (1, .own, false)])
    }

    @Test("AdmittedUsers: the containers of admitted users are admitted, by the ranges that name them, and no others")
    func containers() throws {
        let text = "ferry:100000:65536\nci:200000:10\n42:300000:10\n_apt:0:5\nferry:x:1\nferry:4294967290:65536\n:1:1\n"
        let own = try users([], subordinates: text)
        #expect(own.admits(.user(100_000)) && own.admits(.user(165_535)))
        for number in [99_999, 165_536, 200_000, 300_000, 4_294_967_290] as [UInt32] {
            #expect(!own.admits(.user(number)), "\(number)")
        }
        let more = try users(["_apt"], subordinates: text)
        #expect(more.admits(.user(300_009)) && !more.admits(.user(200_000)) && !more.admits(.user(3)))
    }

    @Test(
        "AdmittedUsers: the number of users that have none in this namespace admits nobody, not even the daemon's own")
    func unmapped() throws {
        #expect(!AdmittedUsers(own: 65_534, unmapped: 65_534).admits(.user(65_534)))
        #expect(!(try users(["65534"], unmapped: 65_534)).admits(.user(65_534)))
        #expect(AdmittedUsers(own: 65_534, unmapped: nil).admits(.user(65_534)))
    }

    @Test(
        "UserNamespace: the overflow number counts as nobody unless every number is mapped",
        arguments: [
            ("         0          0 4294967295\n", "65534\n", nil), ("0 1000 1\n1 100000 65536\n", "65534\n", 65_534),
            ("0 0 1000\n1000 1000 4294966295\n", "65534", nil), ("0 1000 1\n", "99\n", 99), ("", "65534", 65_534),
            (nil, nil, 65_534), ("0 0 x\n", "y", 65_534),
        ] as [(String?, String?, UInt32?)])
    func namespace(map: String?, overflow: String?, expected: UInt32?) {
        #expect(UserNamespace.unmapped(map: map, overflow: overflow) == expected)
    }
}
