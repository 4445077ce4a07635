import FerryAPI
import HTTPTypes
import Testing

@testable import FerryServer

@Suite("ProgramAccess") struct ProgramAccessTests {
    @Test("Access: another Host, every Origin and every page are refused")
    func access() {
        let access = ProgramAccess(port: 3387)
        func refusal(_ hosts: [String], _ change: (inout AccessPolicy.RequestOrigin) -> Void = { _ in }) -> Int? {
            var origin = AccessPolicy.RequestOrigin(method: .get, target: "/v2/", hosts: hosts)
            change(&origin)
            return access.refusal(origin)?.status
        }
        for host in ["127.0.0.1:3387", "localhost:3387", "[::1]:3387", "LOCALHOST:3387"] {
            #expect(refusal([host]) == nil)
        }
        for hosts in [[], ["evil.example:3387"], ["127.0.0.1"], ["127.0.0.1:1"], ["127.0.0.1:3387", "evil.example"]] {
            #expect(refusal(hosts) == 421, "\(hosts)")
        }
        for origin in ["http://127.0.0.1:3387", "http://evil.example", "null"] {
            #expect(refusal(["127.0.0.1:3387"]) { $0.origins = [origin] } == 403)
        }
        for site in ["cross-site", "same-site", "same-origin"] {
            #expect(refusal(["127.0.0.1:3387"]) { $0.sites = [site] } == 403)
        }
    }
}
