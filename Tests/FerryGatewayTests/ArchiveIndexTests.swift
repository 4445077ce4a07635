import Testing

@testable import FerryGateway

@Suite("ArchiveIndex")
struct ArchiveIndexTests {
    private static let digest = String(repeating: "0a", count: 32)

    private static func entries(_ kind: ArchiveIndex.Kind, _ text: String, pieces: Int) -> [String] {
        var reader = ArchiveIndex.Reader(kind)
        var found: [String] = []
        func take(_ entry: ArchiveIndex.Entry) { found.append(String(decoding: entry.path, as: UTF8.self)) }
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            reader.read(Array(bytes[start..<min(bytes.count, start + pieces)]), take)
        }
        reader.finish(take)
        return found
    }

    @Test(
        "ArchiveIndex: Packages name a file and its SHA-256 in each stanza, however the text comes",
        arguments: [1, 7, 9999])
    func packages(pieces: Int) {
        let text = """
            Package: a
            Filename: pool/a.deb
            Description: x
             SHA256: no field
            sha256: \(Self.digest)\r

            Filename: pool/none.deb
            SHA256: 0a

            SHA256: \(Self.digest)
            Long: \(String(repeating: "x", count: 40_000))
            FILENAME:  pool/b c.deb
            """
        #expect(Self.entries(.packages, text, pieces: pieces) == ["pool/a.deb", "pool/b c.deb"])
    }

    @Test("ArchiveIndex: Sources list the files of a directory")
    func sources() {
        let text = """
            Package: a
            Checksums-Sha256:
             \(Self.digest) 12 a.dsc
             \(Self.digest) 12 a.tar.xz
             x 12 b.tar.xz
            Files:
             \(Self.digest) 12 c.tar.xz
            Directory: pool/a

            Directory: .
            Checksums-Sha256:
             \(Self.digest) 1 root.dsc
            """
        #expect(
            Self.entries(.packages, text, pieces: 5) == ["pool/a/a.dsc", "pool/a/a.tar.xz", "root.dsc"])
    }

    @Test("ArchiveIndex: Release lists indexes below SHA256, signed or not")
    func release() {
        let text = """
            -----BEGIN PGP SIGNED MESSAGE-----
            Hash: SHA512

            Suite: stable
            MD5Sum:
             \(Self.digest) 9 main/md5
            SHA256:
             \(Self.digest) 9 main/binary-amd64/Packages
             \(Self.digest)  9  main/binary-amd64/Packages.xz
            -----BEGIN PGP SIGNATURE-----
            """
        #expect(
            Self.entries(.release, text, pieces: 3) == ["main/binary-amd64/Packages", "main/binary-amd64/Packages.xz"])
    }

    @Test(
        "ArchiveIndex: the kind of a file is that of its path",
        arguments: [
            ("dists/stable/InRelease", .release), ("dists/stable/updates/Release", .release),
            ("dists/stable/main/binary-amd64/Packages.xz", .packages), ("dists/s/main/source/Sources", .packages),
            ("dists/s/main/binary-amd64/by-hash/SHA256/0a", .packages), ("dists/s/main/i18n/by-hash/SHA256/0a", nil),
            ("dists/s/main/Contents-amd64.gz", nil), ("pool/Packages.gz", nil),
            ("dists/s/main/binary-all/Packages.diff/Index", nil),
            ("dists/Release", nil), ("", nil), ("dists/s/m/Packages.a.b", nil),
        ] as [(String, ArchiveIndex.Kind?)])
    func kinds(path: String, kind: ArchiveIndex.Kind?) { #expect(ArchiveIndex.Kind(path) == kind) }
}
