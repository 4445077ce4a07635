#if canImport(Darwin)
    public import Foundation
    import Dispatch
    import Security

    /// Stores the secrets of unfinished downloads in the Keychain: on this device only, and accessible after the first unlock
    /// following a restart, so that they are available when the system launches the app in the background.
    ///
    /// ```swift
    /// configuration.secretStorage = KeychainSecrets(service: "com.example.app.downloads")
    /// ```
    ///
    /// On macOS, the app needs an entitlement for a Keychain access group. A program without this entitlement cannot use this
    /// storage and leaves its secrets in Ferry's files.
    public struct KeychainSecrets: SecretStorage {
        /// An error of the Keychain.
        public struct Failure: Error, Sendable, Hashable {
            /// The status code that the Keychain returned, such as `errSecInteractionNotAllowed` before the first unlock.
            public let status: Int32
        }

        private static let queue = DispatchQueue(label: "Ferry.KeychainSecrets", qos: .userInitiated)
        private let service: String
        private let accessGroup: String?

        /// - Parameters:
        ///   - service: The service name of all items. The account name of an item is its key.
        ///   - accessGroup: The access group of the items; `nil` for the app's default group.
        public init(service: String, accessGroup: String? = nil) {
            self.service = service
            self.accessGroup = accessGroup
        }

        public func store(_ value: Data, for key: String) async throws {
            try await run { storage in
                let item = storage.item(key)
                var change: [String: Any] = [kSecValueData as String: value]
                change[kSecAttrAccessible as String] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                let status = SecItemUpdate(item as CFDictionary, change as CFDictionary)
                guard status == errSecItemNotFound else { return try Self.check(status) }
                let new = item.merging(change) { $1 }
                try Self.check(SecItemAdd(new as CFDictionary, nil))
            }
        }

        public func value(for key: String) async throws -> Data? {
            try await run { storage in
                var query = storage.item(key)
                query[kSecReturnData as String] = true
                query[kSecMatchLimit as String] = kSecMatchLimitOne
                return try Self.found(query) as? Data
            }
        }

        public func removeValue(for key: String) async throws {
            try await run { storage in
                let status = SecItemDelete(storage.item(key) as CFDictionary)
                if status != errSecItemNotFound { try Self.check(status) }
            }
        }

        public func keys(withPrefix prefix: String) async throws -> [String] {
            try await run { storage in
                var query = storage.items
                query[kSecReturnAttributes as String] = true
                query[kSecMatchLimit as String] = kSecMatchLimitAll
                let items = try Self.found(query) as? [[String: Any]] ?? []
                return items.compactMap { $0[kSecAttrAccount as String] as? String }
                    .filter { $0.utf8.starts(with: prefix.utf8) }
            }
        }

        private var items: [String: Any] {
            var query: [String: Any] = [
                kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
                kSecUseDataProtectionKeychain as String: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup as String] = accessGroup }
            return query
        }

        private func item(_ key: String) -> [String: Any] {
            items.merging([kSecAttrAccount as String: key]) { $1 }
        }

        private static func found(_ query: [String: Any]) throws -> CFTypeRef? {
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            if status == errSecItemNotFound { return nil }
            try check(status)
            return result
        }

        private static func check(_ status: OSStatus) throws {
            if status != errSecSuccess { throw Failure(status: status) }
        }

        /// Calls the Keychain, whose functions block, on a queue.
        private func run<Value: Sendable>(_ body: @escaping @Sendable (Self) throws -> Value) async throws -> Value {
            try await withCheckedThrowingContinuation { continuation in
                Self.queue.async { continuation.resume(with: Result { try body(self) }) }
            }
        }
    }
#endif
