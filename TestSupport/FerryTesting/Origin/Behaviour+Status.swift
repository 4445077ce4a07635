public import Foundation

extension Behaviour {
    /// Sends this status with a small body (A20, A37, A38) and Retry-After as given: `"2"`, a date, or invalid text.
    public static func status(
        _ status: Int, _ text: String = "<html>sorry</html>", retryAfter: String? = nil
    ) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = .page(status, text)
            if let retryAfter { answer.fields.append(Field("Retry-After", retryAfter)) }
        }
    }

    /// Sends this status with Retry-After as a date.
    public static func status(_ status: Int, retryAfter date: Date) -> Behaviour {
        .status(status, retryAfter: OriginDate.format(date))
    }

    /// Sends a 200 with an HTML page instead of the file (A19).
    public static func htmlPage(_ text: String = "<!doctype html><html>please log in</html>") -> Behaviour {
        Behaviour { answer, _, _ in answer = .page(200, text, contentType: "text/html; charset=utf-8") }
    }

    /// Sends a 200 with only a document of this type, as services report errors.
    public static func document(_ text: String, type: String?) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = .page(200, text)
            answer.fields["Content-Type"] = type
        }
    }

    /// Sends 503 with Retry-After as a date `seconds` after the Date of a clock that is `ahead` seconds fast.
    public static func busy(until seconds: Double, ahead: Double) -> Behaviour {
        Behaviour { answer, _, _ in
            let now = Date().addingTimeInterval(ahead)
            answer = .page(503, "<html>later</html>")
            answer.fields["Date"] = OriginDate.format(now)
            answer.fields["Retry-After"] = OriginDate.format(now.addingTimeInterval(seconds))
        }
    }

    /// Sends the correct response under another status, such as 203.
    public static func status(as status: Int) -> Behaviour { Behaviour { answer, _, _ in answer.status = status } }

    /// Sends another strong ETag with each response, so that no If-Range ever matches.
    public static let ownTag = Behaviour { answer, _, _ in answer.fields["ETag"] = "\"\(UUID().uuidString)\"" }

    /// Sends a 206 with a media type that differs from the 200 of the same file, as BusyBox does.
    public static func partType(_ type: String) -> Behaviour {
        Behaviour { answer, _, _ in if answer.status == 206 { answer.fields["Content-Type"] = type } }
    }

    /// Sends a status without a body: 204, 101, or an unrequested 304 (A32).
    public static func bodiless(_ status: Int, fields: [Field] = []) -> Behaviour {
        Behaviour { answer, _, _ in answer = Answer(status, fields: fields) }
    }

    // MARK: Redirects

    /// Sends a redirect with this location: absolute, relative, `file:///etc/passwd`, blank (A33–A35).
    public static func redirect(to location: String, status: Int = 302, setCookie: String? = nil) -> Behaviour {
        Behaviour { answer, _, _ in
            answer = .redirect(to: location, status: status)
            if let setCookie { answer.fields.append(Field("Set-Cookie", setCookie)) }
        }
    }

    /// Sends an endless redirect to the same URL (A33).
    public static let redirectLoop = Behaviour { answer, request, _ in answer = .redirect(to: request.target) }

    /// Sends a redirect with two Location fields (A33).
    public static func redirectTwice(to first: String, and second: String) -> Behaviour {
        .redirect(to: first).and(.extraField("Location", second))
    }

    /// Sends this many redirects to the same path with a counter in the query, then the correct response (A33).
    public static func redirectChain(_ count: Int, status: Int = 302) -> Behaviour {
        Behaviour { answer, request, _ in
            let hop = request.parameters.first { $0.name == "hop" }.flatMap { Int($0.value) } ?? 0
            if hop < count { answer = .redirect(to: "\(request.path)?hop=\(hop + 1)", status: status) }
        }
    }
}
