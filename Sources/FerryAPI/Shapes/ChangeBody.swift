package import FerryCore

/// The body of `PATCH /downloads/ID`; omitted members are unchanged. Null removes a value, or restores the manager's
/// rule.
///
/// `user` and `password`, or `headers` alone, also resume a download that was waiting for credentials.
package struct ChangeBody: Sendable, Hashable {
    /// A new link for the same file: the only source from now on.
    package var url: String?
    /// Source and mirrors, instead of `url`.
    package var urls: [String]?
    package var rateLimit = Amendment<ByteCount>.unchanged
    package var maxConnections: Int?
    package var priority: Int?
    package var allowsMetered = Amendment<Bool>.unchanged
    package var allowsConstrained = Amendment<Bool>.unchanged
    package var allowsPrivate = Amendment<Bool>.unchanged
    package var label = Amendment<String>.unchanged
    package var userInfo: [String: String]?
    package var checksum = Amendment<String>.unchanged
    package var headers: HeaderList?
    package var user: String?
    package var password: String?
    /// Accepts a web page as the file.
    package var acceptsHTML: Bool?

    package init() {}
}

extension ChangeBody: Codable {
    enum CodingKeys: String, CodingKey, CaseIterable {
        case url, urls, rateLimit, maxConnections, priority, allowsMetered, allowsConstrained, label, userInfo, checksum
        case headers, user, password, allowsPrivate, acceptsHTML
    }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.members(CodingKeys.self)
        url = try members.decodeIfPresent(String.self, forKey: .url)
        urls = try members.decodeIfPresent([String].self, forKey: .urls)
        rateLimit = try members.decodeAmendment(ByteCount.self, forKey: .rateLimit)
        maxConnections = try members.decodeIfPresent(Int.self, forKey: .maxConnections)
        priority = try members.decodeIfPresent(Int.self, forKey: .priority)
        allowsMetered = try members.decodeAmendment(Bool.self, forKey: .allowsMetered)
        allowsConstrained = try members.decodeAmendment(Bool.self, forKey: .allowsConstrained)
        allowsPrivate = try members.decodeAmendment(Bool.self, forKey: .allowsPrivate)
        label = try members.decodeAmendment(String.self, forKey: .label)
        userInfo = try members.decodeIfPresent([String: String].self, forKey: .userInfo)
        checksum = try members.decodeAmendment(String.self, forKey: .checksum)
        headers = try members.decodeIfPresent(HeaderList.self, forKey: .headers)
        user = try members.decodeIfPresent(String.self, forKey: .user)
        password = try members.decodeIfPresent(String.self, forKey: .password)
        acceptsHTML = try members.decodeIfPresent(Bool.self, forKey: .acceptsHTML)
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(url, forKey: .url)
        try members.encodeIfPresent(urls, forKey: .urls)
        try members.encode(rateLimit, forKey: .rateLimit)
        try members.encodeIfPresent(maxConnections, forKey: .maxConnections)
        try members.encodeIfPresent(priority, forKey: .priority)
        try members.encode(allowsMetered, forKey: .allowsMetered)
        try members.encode(allowsConstrained, forKey: .allowsConstrained)
        try members.encode(allowsPrivate, forKey: .allowsPrivate)
        try members.encode(label, forKey: .label)
        try members.encodeIfPresent(userInfo, forKey: .userInfo)
        try members.encode(checksum, forKey: .checksum)
        try members.encodeIfPresent(headers, forKey: .headers)
        try members.encodeIfPresent(user, forKey: .user)
        try members.encodeIfPresent(password, forKey: .password)
        try members.encodeIfPresent(acceptsHTML, forKey: .acceptsHTML)
    }
}
