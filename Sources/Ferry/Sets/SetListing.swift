import FerryCore
import FerryEngine
import HTTPTypes
import NIOCore
import SystemPackage

/// What a source lists.
struct SetListing: Sendable {
    var entries: [SetEntry] = []
    /// What of the source cannot be used. Without any, a file that is not listed is gone from the source.
    var problems: [Reason] = []

    /// Adds entries; a path that is there already is a problem, as one file would replace the other.
    mutating func add(_ new: [SetEntry], _ paths: inout Set<String>) {
        for entry in new {
            if paths.insert(entry.path).inserted {
                entries.append(entry)
            } else {
                problems.append(.phrase(ErrorPhrase(.sameSetPath, entry.path)))
            }
        }
    }
}

/// Reads the list of a set from its source.
struct SetReader: Sendable {
    let manager: DownloadManager
    let options: SyncOptions

    /// The maximum size of an index page in bytes, and the number of pages and of links in one.
    private static let mostPageBytes = 16 << 20
    private static let mostPages = 100_000
    private static let mostLinks = 1_000_000
    /// Pages that are requested at the same time.
    private static let parallel = 6

    /// Throws if there is no list at all; parts of it that cannot be used are ``SetListing/problems``.
    func read(_ source: SetSource) async throws(DownloadError) -> SetListing {
        var (listing, paths): (SetListing, Set<String>) = (SetListing(), [])
        switch source {
        case .entries(let entries): listing.add(entries, &paths)
        case .file(let path, let base):
            let bytes = try await read(path)
            let list = try SetList(bytes, base: base)
            listing.problems = list.problems.map { "\(path): \($0)" }
            listing.add(list.entries, &paths)
        case .url(let url): try await read(url, &listing, &paths)
        }
        listing.entries.removeAll { !options.filter.accepts($0.path) }
        guard !listing.entries.isEmpty else {
            let name = source.name
            throw listing.problems.first.map { DownloadError(.invalidRequest, "\(name): \($0)") }
                ?? DownloadError(.invalidRequest, ErrorPhrase(.emptySet, name), recovery: .needsUser)
        }
        return listing
    }

    private func read(_ path: String) async throws(DownloadError) -> [UInt8] {
        let path = FilePath(DownloadManager.absolute(path))
        return try await EngineProvider.files.run { disk throws(DownloadError) in
            do throws(FileError) {
                let file = try disk.fileSystem.open(path, .readOnly)
                defer { file.close() }
                let length = try file.status().length
                guard length <= ByteCount(SetList.mostBytes) else {
                    throw FileError(.read, path, kind: .endedEarly)
                }
                return try file.read(0..<length)
            } catch { throw DownloadError(error) }
        }
    }

    // MARK: Over HTTP

    /// The response to a request for a list.
    private struct Page {
        var url: DownloadURL
        var bytes: [UInt8]
        var isHTML: Bool
    }

    private func page(_ url: DownloadURL, most: Int) async throws(DownloadError) -> Page {
        let response = try await manager.fetch(url, for: options.request)
        guard response.head.status == 200 else {
            let code: DownloadError.Code = [401, 407].contains(response.head.status) ? .credentials : .refused
            throw DownloadError(
                code, ErrorPhrase(.setAnswered, "\(url)", "\(response.head.status)"),
                recovery: .needsUser)
        }
        let bytes = Array(buffer: try await response.body.collect(upTo: most))
        let type = response.head.values(.contentType).first
        let start = String(decoding: bytes.prefix(256), as: UTF8.self).trimmedText.asciiLowercased
        let isHTML =
            start.utf8.hasPrefix("<!doctype html") || start.utf8.hasPrefix("<html")
            || type.flatMap { MediaType($0) }?.isHTML == true
        return Page(url: response.url, bytes: bytes, isHTML: isHTML)
    }

    private func read(
        _ url: DownloadURL, _ listing: inout SetListing, _ paths: inout Set<String>
    ) async throws(DownloadError) {
        let first = try await page(url, most: SetList.mostBytes)
        guard first.isHTML else {
            let list = try SetList(first.bytes, base: options.base ?? first.url)
            listing.problems = list.problems.map { "\(url): \($0)" }
            listing.add(list.entries, &paths)
            return
        }
        guard first.url.path.utf8.hasSuffix("/") else {
            throw DownloadError(.invalidRequest, ErrorPhrase(.notAnIndex, "\(url)"), recovery: .needsUser)
        }
        await crawl(from: first, &listing, &paths)
    }

    /// Reads the pages below the first one, level by level.
    private func crawl(from first: Page, _ listing: inout SetListing, _ paths: inout Set<String>) async {
        let root = first.url
        var seen: Set<String> = [root.text]
        var level: [Page] = [first]
        for depth in 0... {
            var directories: [DownloadURL] = []
            for page in level {
                let links = HTMLTag.links(in: page.bytes, at: page.url, most: Self.mostLinks)
                for link in links where seen.insert(link.text).inserted {
                    // Not below the page: its parent, other servers, orders of the page.
                    guard SetPath.path(of: link, below: page.url) != nil,
                        let path = SetPath.path(of: link, below: root)
                    else { continue }
                    if link.path.utf8.hasSuffix("/") {
                        directories.append(link)
                        continue
                    }
                    do throws(DownloadError) {
                        listing.add([try SetEntry(path: path, sources: [link])], &paths)
                    } catch { listing.problems.append(error.reason) }
                }
            }
            if directories.isEmpty { return }
            if let most = options.maxDepth, depth >= most { return }
            guard seen.count < Self.mostPages * 100, depth < 64 else {
                listing.problems.append(.phrase(ErrorPhrase(.largeSet, "\(root)", "\(Self.mostPages)")))
                return
            }
            level = await pages(directories, below: root, &listing)
        }
    }

    private func pages(
        _ urls: [DownloadURL], below root: DownloadURL, _ listing: inout SetListing
    ) async -> [Page] {
        var found: [Int: Page] = [:]
        var problems: [Int: Reason] = [:]
        await withTaskGroup(of: (Int, Result<Page, DownloadError>).self) { group in
            var next = 0
            func start() {
                guard next < urls.count, !Task.isCancelled else { return }
                let index = next
                next += 1
                group.addTask {
                    do throws(DownloadError) {
                        return (index, .success(try await page(urls[index], most: Self.mostPageBytes)))
                    } catch { return (index, .failure(error)) }
                }
            }
            for _ in 0..<Self.parallel { start() }
            for await (index, result) in group {
                switch result {
                case .success(let page):
                    let isBelow = page.url == root || SetPath.path(of: page.url, below: root) != nil
                    if !isBelow {
                        problems[index] = .phrase(ErrorPhrase(.setLeavesServer, "\(urls[index])", "\(page.url)"))
                    } else if page.isHTML {
                        found[index] = page
                    } else {
                        problems[index] = .phrase(ErrorPhrase(.notAnIndex, "\(urls[index])"))
                    }
                case .failure(let error): problems[index] = "\(urls[index]): \(error.reason)"
                }
                start()
            }
        }
        listing.problems += problems.sorted { $0.key < $1.key }.map(\.value)
        return urls.indices.compactMap { found[$0] }
    }
}

extension SetSource {
    /// The source in messages.
    var name: String {
        switch self {
        case .url(let url): url.redacted
        case .file(let path, _): path
        case .entries: "the set"
        }
    }
}
