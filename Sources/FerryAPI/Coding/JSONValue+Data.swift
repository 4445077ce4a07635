package import FerryCore

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

extension JSONValue {
    package init(_ data: Data) throws { self = try JSONDecoder().decode(JSONValue.self, from: data) }
}
