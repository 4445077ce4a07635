import FerryTesting
import Foundation
import Testing

@Suite("Privacy manifest")
struct PrivacyManifestTests {
    @Test("PrivacyInfo.xcprivacy: names the calls that the sources make, with a reason for each, and no tracking")
    func complete() throws {
        let sources = Repository.url("Sources")
        let data = try Data(contentsOf: sources.appending(path: "Ferry/PrivacyInfo.xcprivacy"))
        let manifest = try #require(
            try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        let declared = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        var reasons: [String: [String]] = [:]
        for type in declared {
            let name = try #require(type["NSPrivacyAccessedAPIType"] as? String)
            reasons[name] = type["NSPrivacyAccessedAPITypeReasons"] as? [String]
        }
        #expect(reasons.values.allSatisfy { !$0.isEmpty })
        // What the targets of an app call, by Apple's lists.
        let calls = [
            "FileTimestamp": ["fstat(", "fstatat(", "lstat("], "DiskSpace": ["statvfs(", "fstatvfs(", "statfs("],
            "SystemBootTime": ["systemUptime", "mach_absolute_time("], "UserDefaults": ["UserDefaults"],
            "ActiveKeyboards": ["activeInputModes"],
        ]
        for (category, names) in calls {
            let targets = ["FerryCore", "FerryEngine", "FerryAPI", "Ferry", "FerryClient", "FerryUI"]
            let isCalled = try targets.contains { target in
                let folder = sources.appending(path: target)
                return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
                    .filter { $0.hasSuffix(".swift") }
                    .contains { path in
                        let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                        return names.contains { text.contains($0) }
                    }
            }
            #expect((reasons["NSPrivacyAccessedAPICategory\(category)"] != nil) == isCalled, "\(category)")
        }
    }
}
