#if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
    public import Foundation

    extension DownloadManager.Configuration {
        /// Keeps the list in a catalogue, and lets the system continue the downloads while the app is suspended or has been
        /// terminated by the system; see ``continuingInBackground(_:)``.
        ///
        /// - Parameters:
        ///   - identifier: The name of the list and of the background session, as for
        ///     ``default(identifier:directory:stateDirectory:)``.
        ///   - directory: The default directory for downloads; `nil` for the app's Documents, or on tvOS its Caches, which the
        ///     system may purge.
        public static func background(
            identifier: String, directory: String? = nil
        ) -> DownloadManager.Configuration {
            let place = directory ?? downloads
            return .default(identifier: identifier, directory: place).continuingInBackground()
        }

        /// Like ``background(identifier:directory:)-(_,String?)``, but takes the URL of the directory.
        public static func background(identifier: String, directory: URL) -> DownloadManager.Configuration {
            .background(identifier: identifier, directory: directory.requiredPath)
        }

        private static var downloads: String {
            #if os(tvOS)
                let directory = FileManager.SearchPathDirectory.cachesDirectory
            #else
                let directory = FileManager.SearchPathDirectory.documentDirectory
            #endif
            let found = FileManager.default.urls(for: directory, in: .userDomainMask).first
            return found?.path ?? NSHomeDirectory()
        }
    }
#endif
