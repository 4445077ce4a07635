// Which ways to write a suspension behind another element does the optimizer translate wrongly?
//
// Swift 6.3.1 with -O or -Osize does not store the first element of a tuple whose later element is made by `try await`, if a
// `do`/`catch` in the closure of a task returns it: `return (index, .success(try await page(url)))`. The reader gets what
// was in memory there. `make lint` refuses all of these forms in our sources; Scripts/check-compiler runs this program.
//
// Prints a line for each form: "used" or "refused", "right" or "wrong", and what it is.

struct Failure: Error { var url: String }

struct Page: Sendable {
    var url: String
    var links: [String]
    var sizes: (Int, Int, Int, Int)
}

struct Numbered: Sendable {
    var index: Int
    var page: Page
}

enum Ending: Sendable {
    case page(Int, Page)
    case failed(Int)
}

@inline(never) func page(_ url: String) async throws(Failure) -> Page {
    await Task.yield()
    if url.isEmpty { throw Failure(url: url) }
    return Page(url: url, links: [url], sizes: (1, 2, 3, 4))
}

@inline(never) func anyPage(_ url: String) async throws -> Page {
    await Task.yield()
    if url.isEmpty { throw Failure(url: url) }
    return Page(url: url, links: [url], sizes: (1, 2, 3, 4))
}

func numbered(_ urls: [String], from base: Int) -> [(Int, String)] { urls.enumerated().map { ($0 + base, $1) } }

@main struct Shapes {
    static func main() async {
        let urls = ["a", "b", "c", "d", "e", "f"]
        await used(urls)
        await refused(urls)
    }

    /// Forms of our sources: they must be right.
    static func used(_ urls: [String]) async {
        var (indices, base) = ([Int](), 1_000)
        func tell(_ form: String) {
            print("used", indices.sorted() == urls.indices.map { $0 + base } ? "right" : "wrong", form)
            // Other numbers for each form: what was never stored must not be right by what lay there before.
            (indices, base) = ([], base + 100)
        }
        await withTaskGroup(of: (Int, Result<Page, Failure>).self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask {
                    do throws(Failure) {
                        let page = try await page(url)
                        return (index, .success(page))
                    } catch { return (index, .failure(error)) }
                }
            }
            for await (index, _) in group { indices.append(index) }
        }
        tell("a value, then a tuple with a result")
        await withTaskGroup(of: (Int, Page?).self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask {
                    do {
                        let page = try await anyPage(url)
                        return (index, page)
                    } catch { return (index, nil) }
                }
            }
            for await (index, _) in group { indices.append(index) }
        }
        tell("a value, then a tuple with an optional, untyped")
        await withTaskGroup(of: (Int, Page?).self) { group in
            for (index, url) in numbered(urls, from: base) { group.addTask { (index, try? await page(url)) } }
            for await (index, _) in group { indices.append(index) }
        }
        tell("a tuple with try? await")
        for (index, url) in numbered(urls, from: base) {
            let task = Task { () -> (Int, Page?) in
                do throws(Failure) {
                    let page = try await page(url)
                    return (index, page)
                } catch { return (index, nil) }
            }
            indices.append(await task.value.0)
        }
        tell("a value, then a tuple of an unstructured task")
    }

    /// Forms that `make lint` refuses.
    static func refused(_ urls: [String]) async {
        var (indices, base) = ([Int](), 5_000)
        func tell(_ form: String) {
            print("refused", indices.sorted() == urls.indices.map { $0 + base } ? "right" : "wrong", form)
            (indices, base) = ([], base + 100)
        }
        await withTaskGroup(of: (Int, Result<Page, Failure>).self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask {
                    do throws(Failure) { return (index, .success(try await page(url))) } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (index, _) in group { indices.append(index) }
        }
        tell("a tuple with a result")
        await withTaskGroup(of: (Int, Page?).self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask {
                    do throws(Failure) { return (index, try await page(url)) } catch { return (index, nil) }
                }
            }
            for await (index, _) in group { indices.append(index) }
        }
        tell("a tuple with an optional")
        await withTaskGroup(of: (Int, Page?).self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask { do { return (index, try await anyPage(url)) } catch { return (index, nil) } }
            }
            for await (index, _) in group { indices.append(index) }
        }
        tell("a tuple with an optional, untyped")
        for (index, url) in numbered(urls, from: base) {
            let task = Task { () -> (Int, Page?) in
                do throws(Failure) { return (index, try await page(url)) } catch { return (index, nil) }
            }
            indices.append(await task.value.0)
        }
        tell("a tuple of an unstructured task")
        await withTaskGroup(of: Numbered?.self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask {
                    do throws(Failure) { return Numbered(index: index, page: try await page(url)) } catch {
                        return nil
                    }
                }
            }
            for await numbered in group { indices.append(numbered?.index ?? -1) }
        }
        tell("an initializer")
        await withTaskGroup(of: Ending.self) { group in
            for (index, url) in numbered(urls, from: base) {
                group.addTask {
                    do throws(Failure) { return .page(index, try await page(url)) } catch {
                        return .failed(index)
                    }
                }
            }
            for await case .page(let index, _) in group { indices.append(index) }
        }
        tell("the payload of an enum")
    }
}
