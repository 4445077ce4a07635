// Hashes and message authentication codes of CryptoKit, which swift-crypto re-exports on Apple's systems.
@_exported import Foundation
public protocol Digest: ContiguousBytes, Hashable, CustomStringConvertible, Sequence, Sendable where Element == UInt8 {
    static var byteCount: Int { get }
}
public struct AnyD: Digest {
    public static var byteCount: Int { 0 };
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() };
    public var description: String { "" }; public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}
public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest; static var blockByteCount: Int { get }; init();
    mutating func update(bufferPointer: UnsafeRawBufferPointer); func finalize() -> Digest
}
extension HashFunction {
    public static var byteCount: Int { 0 }
    @inlinable public static func hash<D: DataProtocol>(data: D) -> Self.Digest { fatalError() }
    @inlinable public static func hash(bufferPointer: UnsafeRawBufferPointer) -> Self.Digest { fatalError() }
    public mutating func update<D: DataProtocol>(data: D) {}
}
public typealias SHA256Digest = AnyD
public struct SHA256: HashFunction {
    public typealias Digest = AnyD; public static var blockByteCount: Int { 64 }; public init() {};
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {};
    public func finalize() -> AnyD { fatalError() }
}
public struct SHA512: HashFunction {
    public typealias Digest = AnyD; public static var blockByteCount: Int { 64 }; public init() {};
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {};
    public func finalize() -> AnyD { fatalError() }
}
public enum Insecure {
    public struct MD5: HashFunction {
        public typealias Digest = AnyD; public static var blockByteCount: Int { 64 }; public init() {};
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {};
        public func finalize() -> AnyD { fatalError() }
    }
    public struct SHA1: HashFunction {
        public typealias Digest = AnyD; public static var blockByteCount: Int { 64 }; public init() {};
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {};
        public func finalize() -> AnyD { fatalError() }
    }
}
public struct SymmetricKeySize: Sendable { public static var bits256: SymmetricKeySize { fatalError() } }
public struct SymmetricKey: ContiguousBytes, Sendable {
    public init<D: ContiguousBytes>(data: D) {}; public init(size: SymmetricKeySize) {};
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}
public struct HashedAuthenticationCode<H: HashFunction>: ContiguousBytes, Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() };
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}
public struct HMAC<H: HashFunction>: Sendable {
    public typealias MAC = HashedAuthenticationCode<H>;
    public static func authenticationCode<D: DataProtocol>(for data: D, using key: SymmetricKey) -> MAC { fatalError() }
}
public enum CryptoKitError: Error {
    case incorrectKeySize, incorrectParameterSize, authenticationFailure, underlyingCoreCryptoError(error: Int32),
        wrapFailure, unwrapFailure, invalidParameter
}
public enum CryptoKitASN1Error: Equatable, Error {
    case invalidFieldIdentifier, unexpectedFieldType, invalidASN1Object, invalidASN1IntegerEncoding, truncatedASN1Field,
        unsupportedFieldLength, invalidPEMDocument
}
