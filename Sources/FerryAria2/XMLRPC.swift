package import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The format of XML-RPC as aria2 reads and writes it.
package enum XMLRPC {
    /// Reads a call. Returns `nil` if the body is not a call.
    package static func call(in data: Data) -> Aria2Call? {
        guard let root = try? PlainXML(parsing: data, limits: PlainXML.Limits(bytes: Aria2Responder.mostBytes)),
            root.name == "methodCall"
        else { return nil }
        var params: [JSONValue] = []
        for param in root.child(named: "params")?.children(named: "param") ?? [] {
            guard let value = param.child(named: "value").flatMap(value) else { return nil }
            params.append(value)
        }
        return Aria2Call(
            method: root.child(named: "methodName")?.text.trimmedText ?? "",
            params: params)
    }

    private static func value(_ element: PlainXML) -> JSONValue? {
        // A value without a type is a string.
        guard let typed = element.children.first else { return .text(element.text) }
        let text = typed.text.trimmedText
        switch typed.name {
        case "string": return .text(typed.text)
        case "base64": return .text(text)
        case "int", "i4", "i8": return Int(text).map { .whole($0) }
        case "double": return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
        case "boolean": return text == "0" ? false : text == "1" ? true : nil
        case "array":
            var items: [JSONValue] = []
            for child in typed.child(named: "data")?.children(named: "value") ?? [] {
                guard let item = value(child) else { return nil }
                items.append(item)
            }
            return .list(items)
        case "struct":
            var members: [String: JSONValue] = [:]
            for member in typed.children(named: "member") {
                guard let name = member.child(named: "name")?.text,
                    let value = member.child(named: "value").flatMap(value)
                else { return nil }
                members[name] = value
            }
            return .object(members)
        default: return nil
        }
    }

    package static func response(_ result: Result<JSONValue, Aria2Error>) -> String {
        let body =
            switch result {
            case .success(let value):
                PlainXML("params", children: [PlainXML("param", children: [element(value)])])
            case .failure(let error): PlainXML("fault", children: [element(error.value(in: .xml))])
            }
        return #"<?xml version="1.0"?>"# + PlainXML("methodResponse", children: [body]).document
    }

    private static func element(_ value: JSONValue) -> PlainXML {
        let typed: PlainXML? =
            switch value {
            case .null: nil
            case .flag(let flag): PlainXML("boolean", text: flag ? "1" : "0")
            case .whole(let number): PlainXML("int", text: String(number))
            case .number(let number): PlainXML("double", text: String(number))
            case .text(let text): PlainXML("string", text: text)
            case .list(let items): PlainXML("array", children: [PlainXML("data", children: items.map(element))])
            case .object(let members):
                PlainXML(
                    "struct",
                    children: members.sorted { $0.key < $1.key }.map { name, value in
                        PlainXML("member", children: [PlainXML("name", text: name), element(value)])
                    })
            }
        return PlainXML("value", children: typed.map { [$0] } ?? [])
    }
}
