import FerryCore
import Foundation

extension FuzzTarget {
    /// Resume data as given, and the same object with a correct seal, which a fuzzer would not find.
    static func resumeData(_ input: [UInt8]) throws(BrokenPromise) {
        try checkResumeData(Data(input))
        if let sealed = resealed(Data(input)) { try checkResumeData(sealed) }
    }

    private static func checkResumeData(_ data: Data) throws(BrokenPromise) {
        let read: ResumeData
        do {
            read = try ResumeData(data)
        } catch {
            try promise(error.code == .notResumable, "another error: \(error)")
            return try promiseOneLine(error.message)
        }
        try promise(!read.sources.isEmpty && read.sources.allSatisfy { $0.credentials == nil }, "sources: \(read)")
        for source in read.sources { try checkForm(of: source) }
        let path = read.partPath
        try promise(path.utf8.first == UInt8(ascii: "/"), "a relative path: \(path.debugDescription)")
        try promise(
            path.utf8.count > 6 && path.utf8.suffix(5).elementsEqual(".part".utf8) && !"\(path)/".utf8.contains("/../"),
            "no part file: \(path.debugDescription)")
        try promise(read.id.isOneLine && !read.id.rawValue.isEmpty, "an id: \(read.id.rawValue.debugDescription)")
        try promise(read.completedBytes >= 0 && read.completedBytes <= read.totalBytes ?? .max, "sizes: \(read)")
        let written = read.data
        try promise((try? ResumeData(written)) == read, "not read again: \(String(decoding: written, as: UTF8.self))")
        guard let coded = try? JSONEncoder().encode(read) else {
            throw BrokenPromise(description: "not coded: \(read)")
        }
        try promise((try? JSONDecoder().decode(ResumeData.self, from: coded)) == read, "coded as another: \(read)")
        // A single changed bit is detected or has no effect.
        var damaged = written
        let place = place(in: written)
        damaged[damaged.startIndex + place] ^= 1 << UInt8(place % 8)
        if let other = try? ResumeData(damaged) { try promise(other == read, "a changed bit at \(place) went unseen") }
    }

    private static func place(in data: Data) -> Int {
        data.reduce(into: 7) { $0 = ($0 &* 31 &+ Int($1)) & 0xFFFF } % data.count
    }

    /// Computes the seal of `docs/resume-data.md` independently of the checked code.
    private static func resealed(_ data: Data) -> Data? {
        guard data.count <= 1 << 16, let json = try? JSONSerialization.jsonObject(with: data),
            var object = json as? [String: Any]
        else { return nil }
        object["seal"] = nil
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        guard let text = try? JSONSerialization.data(withJSONObject: object, options: options) else { return nil }
        var remainder = UInt32.max
        for byte in text {
            remainder ^= UInt32(byte)
            for _ in 0..<8 { remainder = remainder & 1 == 1 ? remainder >> 1 ^ 0xEDB8_8320 : remainder >> 1 }
        }
        let digits = String(~remainder, radix: 16)
        object["seal"] = String(repeating: "0", count: 8 - digits.count) + digits
        return try? JSONSerialization.data(withJSONObject: object, options: options)
    }
}
