import Ferry
import FerryCore
import HTTPTypes

/// Values of arguments. Errors name the option.
extension PlanningWorld {
    /// Reads a text file that an argument names.
    func read(_ path: String, what: Reason) throws(UsageError) -> String {
        try Self.naming(what, path) { () throws(UsageError) in try readText(path) }
    }

    /// Adds the purpose and the path of a file to an error.
    static func naming<Value>(
        _ what: Reason, _ path: String, _ body: () throws(UsageError) -> Value
    ) throws(UsageError) -> Value {
        do {
            return try body()
        } catch {
            let place: Reason = path == "-" ? "from standard input" : .words(path)
            throw UsageError("cannot read \(what) \(place): \(error.reason)")
        }
    }

    /// Returns the header fields of `--header` texts, also from the files that they name.
    func headers(_ texts: [String], referer: String? = nil) throws(UsageError) -> HTTPFields {
        var fields = HTTPFields()
        for text in texts {
            if text.utf8.hasPrefix("@") {
                let path = String(text.dropFirst())
                let content = try read(path, what: "header file")
                for field in try Self.value(path, { () throws(TextError) in try HeaderLine.parseFile(content) }) {
                    fields.append(field)
                }
            } else {
                fields.append(try Self.value("--header") { () throws(TextError) in try HeaderLine.parse(text) })
            }
        }
        if let referer { fields.append(try Self.field("Referer", referer, option: "--referer")) }
        return try Self.permitted(fields)
    }

    /// Returns the fields without those of the connection, which Ferry sets itself and which each browser copies.
    ///
    /// - Throws: For a field that would change what is downloaded, such as Range.
    static func permitted(_ fields: HTTPFields) throws(UsageError) -> HTTPFields {
        var permitted = HTTPFields()
        for field in fields where !HeaderLine.isOfConnection(field.name) {
            if HeaderLine.isReserved(field.name) {
                throw UsageError("the header \(field.name.rawName) is set by ferry itself")
            }
            permitted.append(field)
        }
        return permitted
    }

    /// Prompts for a missing password on the terminal.
    func credentials(of word: UserWord) throws(UsageError) -> Credentials {
        if let password = word.password { return Credentials(user: word.user, password: password) }
        return Credentials(user: word.user, password: try password(word.user))
    }

    static func field(_ name: String, _ text: String, option: String) throws(UsageError) -> HTTPField {
        try value(option) { () throws(TextError) in try HeaderLine.parse("\(name): \(text)") }
    }

    static func size(_ text: String, option: String) throws(UsageError) -> ByteCount {
        try value(option) { () throws(TextError) in try SizeText.parse(text) }
    }

    /// Returns the value that `read` parses; an error begins with the option.
    static func value<Value>(_ option: String, _ read: () throws(TextError) -> Value) throws(UsageError) -> Value {
        do {
            return try read()
        } catch {
            throw UsageError("\(option): \(error)")
        }
    }
}
