// What NIOSSL names of Security in its interface.
open class SecTrust: @unchecked Sendable {}; open class SecCertificate: @unchecked Sendable {}; open class SecPolicy {}
public typealias OSStatus = Int32
public enum SecTrustResultType: UInt32, Sendable { case invalid, proceed, confirm, deny, unspecified }
