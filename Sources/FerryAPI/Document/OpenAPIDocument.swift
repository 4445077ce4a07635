import CFerryAssets

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// The OpenAPI 3.1 document. Tests compare it with the routes, the shapes, and the table of a request's properties.
package enum OpenAPIDocument {
    /// The document as JSON, `openapi.json`.
    package static let data = Data(bytes: ferry_openapi_document.bytes, count: ferry_openapi_document.count)
}
