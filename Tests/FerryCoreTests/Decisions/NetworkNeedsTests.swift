import FerryCore
import Testing

@Suite("Network rules")
struct NetworkNeedsTests {
    static let needs = [
        NetworkNeeds(isLocal: true, allowsMetered: false, allowsConstrained: false), NetworkNeeds(),
        NetworkNeeds(allowsMetered: false), NetworkNeeds(allowsConstrained: false),
        NetworkNeeds(allowsMetered: false, allowsConstrained: false),
    ]

    @Test(
        "NetworkStatus: each kind of network permits the downloads that its rules allow",
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

    @Test("NetworkRule: a download's own rule overrides the manager's settings")
    func rules() {
        let silent = NetworkRule().needs(isLocal: false, allowsMetered: false, allowsConstrained: true)
        #expect(silent == NetworkNeeds(allowsMetered: false))
        let anyway = NetworkRule(allowsMetered: true).needs(
            isLocal: false, allowsMetered: false, allowsConstrained: false)
        #expect(anyway == NetworkNeeds(allowsConstrained: false))
    }
}
