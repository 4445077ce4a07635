import FerryCore
import Testing

@Suite("Networks and what downloads ask of them")
struct NetworkNeedsTests {
    static let needs = [
        NetworkNeeds(isLocal: true, allowsMetered: false, allowsConstrained: false), NetworkNeeds(),
        NetworkNeeds(allowsMetered: false), NetworkNeeds(allowsConstrained: false),
        NetworkNeeds(allowsMetered: false, allowsConstrained: false),
    ]

    @Test(
        "Each network permits what its rules say",
        arguments: [
            (NetworkStatus.offline, NetworkStatus.Kind.offline, [true, false, false, false, false]),
            (.online, .online, [true, true, true, true, true]),
            (NetworkStatus(isOnline: true, isMetered: true), .metered, [true, true, false, true, false]),
            (NetworkStatus(isOnline: true, isConstrained: true), .constrained, [true, true, true, false, false]),
            (
                NetworkStatus(isOnline: true, isMetered: true, isConstrained: true), .metered,
                [true, true, false, false, false]
            ),
        ])
    func permits(status: NetworkStatus, kind: NetworkStatus.Kind, permitted: [Bool]) {
        #expect(status.kind == kind)
        #expect(Self.needs.map { status.permits($0) } == permitted)
    }

    @Test("A download's own rule goes before the manager's settings")
    func rules() {
        let silent = NetworkRule().needs(isLocal: false, allowsMetered: false, allowsConstrained: true)
        #expect(silent == NetworkNeeds(allowsMetered: false))
        let anyway = NetworkRule(allowsMetered: true).needs(
            isLocal: false, allowsMetered: false, allowsConstrained: false)
        #expect(anyway == NetworkNeeds(allowsConstrained: false))
    }
}
