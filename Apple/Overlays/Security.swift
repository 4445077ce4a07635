// What NIOSSL names of Security in its interface.
open class SecTrust: @unchecked Sendable {}; open class SecCertificate: @unchecked Sendable {}; open class SecPolicy {}
public typealias OSStatus = Int32
public enum SecTrustResultType: UInt32, Sendable { case invalid, proceed, confirm, deny, unspecified }
public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = Any
public let kSecClass: CFString = "", kSecClassGenericPassword: CFString = "", kSecAttrService: CFString = "",
    kSecAttrAccount: CFString = "", kSecAttrAccessGroup: CFString = "", kSecAttrAccessible: CFString = "",
    kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "", kSecUseDataProtectionKeychain: CFString = "",
    kSecValueData: CFString = "", kSecReturnData: CFString = "", kSecReturnAttributes: CFString = "",
    kSecMatchLimit: CFString = "", kSecMatchLimitOne: CFString = "", kSecMatchLimitAll: CFString = ""
public let errSecSuccess: OSStatus = 0, errSecItemNotFound: OSStatus = -25300
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus { 0 }
public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus { 0 }
