import Foundation
import Synchronization

/// Routes whose URLs specify the resource and its misbehaviour.
final class FileRoutes: Sendable {
    /// The number of requests for each URL with `times` or `every`.
    private let hits: Mutex<[String: Int]> = Mutex([:])
    private let tokens: Mutex<[String: TokenBook]> = Mutex([:])
    /// The targets of the paths below `/scene/`.
    private let scenes: Mutex<[String: String]> = Mutex([:])

    /// The URL syntax, for `--help` and the index page.
    static let help = """
        /file/SIZE[/NAME]?…      a file of SIZE bytes (100, 10K, 5M, 1G, 1MiB, 1GiB)
          seed=N                 which bytes (default 1); ferry-origin print --seed N --size SIZE writes them
          etag=TEXT|weak|none    default: strong, from seed and size; TEXT is sent in quotes; rawetag=… as it is
          lastmod=UNIX|now|none  default: 2024-01-01; now: equal to Date
          ranges=on|off|ignore|unannounced
          name=NAME              Content-Disposition: attachment; filename="NAME"; disposition=… as it is
          type=TYPE              Content-Type; none: without
          field=NAME:VALUE       one more field; may be repeated
          rate=RATE              bytes a second of this answer; drip=1: one byte a second
          delay=MS               before the head; pause=MS,N: after N bytes
          chunked[=SIZE]         Transfer-Encoding: chunked; close: ends by close; multipart: for several ranges
          cutclose               ends by close, over TLS without close_notify
          cut=N, reset=N, stall=N    after N bytes: close, RST, nothing more
          corrupt=N              64 wrong bytes at offset N
          status=CODE[,RETRY]    that status, with Retry-After: RETRY
          document=TYPE,TEXT     a 200 with this text instead, without a validator
          as=CODE                right, but for the status
          busy=N,AHEAD           503, Retry-After: a date N seconds later, on a clock that is AHEAD seconds fast
          owntag                 another strong ETag with each response
          parttype=TYPE          another Content-Type with a 206
          gzip                   says Content-Encoding: gzip, and is not
          html                   an HTML page instead
          digest                 Content-Digest; baddigest: a wrong one
          endless                a body without end; excess=N: N bytes too many
          norange, badrange=TEXT|none, shift=N, early=N, late=N, total=TEXT, noifrange
                                 206: ignored, any Content-Range, shifted, shorter, longer, other total; 200 to If-Range
          anyifrange             206 although If-Range does not match; byteranges: one range as multipart
          part=A-B               always a 206 with bytes A to B - 1, whatever was asked
          unsatisfiable=LENGTH|none|endless   416 with */LENGTH; without; without, and a body that never ends
          version=SEED           the right answer of another version: other bytes, other ETag, same date
          length=TEXT, length2=TEXT, lengthchunked   another, a second Content-Length; one beside chunks
          badchunk=TEXT,N        TEXT instead of a chunk's size after N bytes
          truncate=N             as cut, over TLS without close_notify
          endlesshead, manyfields=COUNT,BYTES, informational=COUNT, bodiless=CODE
          loop, location=URL     redirects
          latin1                 the head in Latin-1, of the parameters before it
          silence, headonly, garbage, drop
          auth=basic|digest:USER:PASSWORD, cookie=NAME=VALUE   else 401, 403
          times=N                misbehaves for the first N requests of this URL, then is right
          every=N                misbehaves for each Nth request of this URL alone
          ranged                 misbehaves for requests with Range alone
        /redirect/CODE/COUNT/REST  COUNT redirects, then /REST
        /expiring/HITS[-CODE]/REST a redirect to a link to /REST that is good for HITS requests, then CODE (403)
        /scene/NAME                answers as the target that was set last with /set/NAME?TARGET (/file/… and so on)
        /stats                     what was served, as JSON
        /requests                  every request so far, but for those of /set, /stats and this, as JSON
        """

    func answer(_ request: RequestHead) -> Answer? {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch parts.first {
        case "": return .page(200, Self.help, contentType: "text/plain")
        case "file": return file(request, Array(parts.dropFirst()))
        case "redirect": return redirect(request, Array(parts.dropFirst()))
        case "expiring": return expiring(request, Array(parts.dropFirst()))
        case "set": return set(request, parts.dropFirst().joined(separator: "/"))
        case "scene":
            let name = parts.dropFirst().joined(separator: "/")
            guard let target = scenes.withLock({ $0[name] }) else { return nil }
            var inner = request
            inner.target = target
            return answer(inner)
        default: return nil
        }
    }

    private func file(_ request: RequestHead, _ parts: [String]) -> Answer? {
        guard let text = parts.first, let size = ByteSize.parse(text) else {
            return .page(400, "/file/SIZE: not a size", contentType: "text/plain")
        }
        let parameters = request.parameters
        guard let resource = FileParameters.resource(size: size, parameters) else {
            return .page(400, "bad parameter\n\n\(Self.help)", contentType: "text/plain")
        }
        var answer = Answer.honest(request, resource)
        guard let behaviours = FileParameters.behaviours(parameters) else {
            return .page(400, "bad parameter\n\n\(Self.help)", contentType: "text/plain")
        }
        guard misbehaves(request, parameters) else { return answer }
        for behaviour in behaviours { behaviour.change(&answer, request, resource) }
        return answer
    }

    /// Whether the behaviours apply to this request. Counts it if the parameters require that.
    private func misbehaves(_ request: RequestHead, _ parameters: FileParameters.Pairs) -> Bool {
        func number(_ name: String) -> Int? {
            parameters.first { $0.name == name }.flatMap { Int($0.value) }
        }
        if parameters.contains(where: { $0.name == "ranged" }), request["Range"] == nil { return false }
        let times = number("times")
        let every = number("every")
        guard times != nil || every != nil else { return true }
        let hit = hits.withLock { hits in
            hits[request.target, default: 0] += 1
            return hits[request.target] ?? 0
        }
        return hit <= times ?? .max && hit % max(1, every ?? 1) == 0
    }

    /// Handles `/set/NAME?TARGET`. A target that leads back to a scene is refused, because it would recurse endlessly.
    private func set(_ request: RequestHead, _ name: String) -> Answer {
        let target = String(query(request).dropFirst())
        let path = target.prefix { $0 != "?" }
        guard path.hasPrefix("/"), !path.contains("/scene/"), !path.hasPrefix("/set/") else {
            return .page(400, "/set/NAME?TARGET: not a target", contentType: "text/plain")
        }
        scenes.withLock { $0[name] = target }
        return .page(200)
    }

    private func redirect(_ request: RequestHead, _ parts: [String]) -> Answer? {
        guard parts.count >= 3, let status = Int(parts[0]), let count = Int(parts[1]) else { return nil }
        let rest = "/" + parts.dropFirst(2).joined(separator: "/") + query(request)
        if count > 0 {
            return .redirect(to: count == 1 ? rest : "/redirect/\(status)/\(count - 1)\(rest)", status: status)
        }
        var inner = request
        inner.target = rest
        return answer(inner)
    }

    /// `/expiring/HITS[-CODE]/REST` creates a token; `/expiring/HITS[-CODE]/token-N/REST` uses it.
    private func expiring(_ request: RequestHead, _ parts: [String]) -> Answer? {
        let numbers = parts.first?.split(separator: "-").compactMap { Int($0) } ?? []
        guard parts.count >= 2, let count = numbers.first else { return nil }
        let book = tokens.withLock { tokens in
            let book = tokens[parts[0]] ?? TokenBook(hits: count)
            tokens[parts[0]] = book
            return book
        }
        if parts[1].hasPrefix("token-") {
            guard book.use(Int(parts[1].dropFirst(6))) else {
                return .page(numbers.dropFirst().first ?? 403, "<html>this link has expired</html>")
            }
            var inner = request
            inner.target = "/" + parts.dropFirst(2).joined(separator: "/") + query(request)
            return answer(inner)
        }
        let rest = parts.dropFirst().joined(separator: "/")
        return .redirect(to: "/expiring/\(parts[0])/token-\(book.issue())/\(rest)\(query(request))")
    }

    private func query(_ request: RequestHead) -> String { String(request.target.dropFirst(request.path.count)) }
}
