import FerryCore
import FerryEngine
import FerryTesting
import NIOCore
import Testing

@Suite("Response bodies and framing", .timeLimit(.minutes(30)))
struct FramingTests {
    private func failure(_ behaviour: Behaviour, size: Int64 = 100_000) async throws -> TransferFailure? {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: size, seed: 1))
            server.always("/f", behaviour)
            return await transport.failure(of: TransferRequest(url: try server.downloadURL("/f")))
        }
    }

    @Test("Body: all bytes arrive in order, and reads after the end return nil")
    func whole() async throws {
        try await withOrigin { server, transport in
            let resource = Resource(size: 3_000_000, seed: 5)
            server.serve("/f", resource)
            let body = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f"))).body
            #expect(try await body.collect() == resource.bytes(0..<3_000_000))
            #expect(try await body.next() == nil)
        }
    }

    @Test(
        "Body: a body that ends early is a transient failure (A21, A25)",
        arguments: [
            Behaviour.cut(after: 1000), .cut(after: 1000, .reset), .missingLastChunk,
            .chunked(1000).and(.cut(after: 2500)),
        ])
    func short(behaviour: Behaviour) async throws {
        let failure = try await failure(behaviour)
        #expect(failure?.kind == .broken)
        #expect(failure?.isTransient == true)
    }

    /// NIO reads all bytes of a socket at once when the peer has closed it, and AsyncHTTPClient dropped those that had
    /// not been requested by then.
    @Test(
        "Body: bytes received before the connection ended are delivered, also when read later (A21)",
        arguments: [
            (Answer.Ending.close, false), (.close, true), (.cut, true), (.reset, false),
        ])
    func unread(ending: Answer.Ending, isEncrypted: Bool) async throws {
        var configuration = OriginServer.Configuration()
        if isEncrypted { configuration.certificate = .good }
        var settings = TransferSettings()
        settings.insecure = true
        try await withOrigin(configuration, settings: settings) { server, transport in
            let resource = Resource(size: 3_000_000, seed: 4)
            server.serve("/f", resource)
            // More than the first read takes, and little enough for the sockets.
            server.always("/f", .cut(after: 110_000, ending))
            let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f")))
            try await server.waitFor { $0.bodyBytes >= 110_000 || $0.openConnections == 0 }
            // Waits until this side has seen the close too.
            try await eventually { transport.connectionCount == 0 }
            var bytes: [UInt8] = []
            do throws(TransferFailure) {
                while let piece = try await response.body.next() { bytes += piece.readableBytesView }
                Issue.record("it has an end")
            } catch { #expect(error.kind == .broken) }
            #expect(bytes == resource.bytes(0..<Int64(bytes.count)))
            // A reset may discard bytes in flight.
            #expect(bytes.count == 110_000 || ending == .reset, "\(bytes.count)")
            await #expect(throws: TransferFailure.self) { try await response.body.next() }
        }
    }

    @Test("Body: a body without a length is whole when the connection closes (A26)")
    func closeDelimited() async throws {
        #expect(try await failure(.closeDelimited()) == nil)
    }

    @Test(
        "Body: it says whether only the end of the connection ends it, so that readers know that it may be cut short",
        arguments: [
            (Behaviour.honest, false), (.chunked(1000), false), (.closeDelimited(), true),
            (.raw("HTTP/1.0 200 OK\n\nok"), true), (.raw("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"), false),
            (.raw("HTTP/1.1 200 OK\nTransfer-Encoding: Chunked\n\n2\nok\n0\n\n"), false),
            (.raw("HTTP/1.1 204 No Content\n\n"), false),
        ])
    func endsWithConnection(behaviour: Behaviour, endsWithConnection: Bool) async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 100_000, seed: 1))
            server.always("/f", behaviour)
            let response = try await transport.fetch(TransferRequest(url: try server.downloadURL("/f")))
            let body = ShortBody(response.body)
            #expect(body.endsWithConnection == endsWithConnection)
        }
    }

    @Test(
        "HTTPTransport: framing that cannot be trusted is refused as malformed, for good (A24, A27, A30)",
        arguments: [
            Behaviour.lengthAndChunked, .secondContentLength("5"), .contentLength("6x"),
            .contentLength("-5"), .contentLength("99999999999999999999999"), .badChunkSize("zz"), .badChunkSize("-5"),
            .raw("ICY 200 OK\n\nmusic"), .raw("hello, this is no HTTP at all\n\n"),
            .raw("HTTP/1.1 200 OK\nContent-Length: 2, 3\n\nok"),
            .raw("HTTP/1.1 200 OK\nContent-Length: 2\nTransfer-Encoding : chunked\n\nok"),
        ])
    func malformed(behaviour: Behaviour) async throws {
        let failure = try await failure(behaviour)
        #expect(failure?.kind == .malformed)
        #expect(failure?.isTransient == false)
    }

    @Test(
        "HTTPTransport: heads whose meaning RFC 9112 gives are understood (A24, A76)",
        arguments: [
            "X-Folded: a\r\n  b\r\nContent-Length: 2\r\n\r\n", "Content-Length:\t2\r\n\r\n",
            "Content-Length:\r\n 2\r\n\r\n", "Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
            "Content-Length: 2, 2\r\n\r\n", "Content-Length: 2\n\n", "Content-Length : 2\r\n\r\n",
        ])
    func unusual(fields: String) async throws {
        try await withOrigin { server, transport in
            server.always("/f", .raw(bytes: Array("HTTP/1.1 200 OK\r\n\(fields)ok and more".utf8)))
            let request = TransferRequest(url: try server.downloadURL("/f"))
            #expect(try await transport.fetch(request).body.collect() == Array("ok".utf8))
        }
    }

    @Test("HTTPTransport: an endless head and a head of many fields are refused as malformed (A30)")
    func hugeHeads() async throws {
        #expect(try await failure(.endlessHead)?.kind == .malformed)
        #expect(try await failure(.manyFields(2000, valueBytes: 1000))?.kind == .malformed)
    }

    @Test("Body: bytes after the declared length are dropped and do not affect the next response (A22)")
    func excess() async throws {
        try await withOrigin { server, transport in
            let resource = Resource(size: 1000, seed: 1)
            server.serve("/f", resource)
            server.always("/f", .excess(5000))
            let request = TransferRequest(url: try server.downloadURL("/f"))
            for _ in 0..<3 {
                #expect(try await transport.fetch(request).body.collect() == resource.bytes(0..<1000))
            }
        }
    }

    @Test(
        "HTTPTransport: a status without a body is returned or fails as malformed, and never hangs (A32)",
        arguments: [101, 204, 205, 304])
    func bodiless(status: Int) async throws {
        try await withOrigin { server, transport in
            server.serve("/f", Resource(size: 10, seed: 1))
            server.always("/f", .bodiless(status, fields: [Field("Content-Length", "0")]))
            let request = TransferRequest(url: try server.downloadURL("/f"), headLimit: .seconds(20))
            do {
                let response = try await transport.fetch(request)
                #expect(response.head.status == status)
                #expect(try await response.body.collect().isEmpty)
            } catch let failure as TransferFailure {
                #expect(failure.kind == .malformed)
            }
        }
    }

    @Test("HTTPTransport: interim 1xx responses before the final one are skipped (A31)")
    func interim() async throws {
        #expect(try await failure(.informational(20)) == nil)
    }

    @Test(
        "HTTPTransport: a close or reset before the first byte of a response fails as closed",
        arguments: [Answer.Ending.close, .reset])
    func closed(ending: Answer.Ending) async throws {
        let failure = try await failure(.drop(ending))
        #expect(failure?.kind == .closed)
    }

    @Test("HTTPTransport: a connection cut within the head fails as broken")
    func cutHead() async throws {
        #expect(try await failure(.raw("HTTP/1.1 200 OK\nContent-Le"))?.kind == .broken)
    }
}
