#if os(Linux)
    import Foundation

    extension StatePlace {
        /// Where state is kept, by the XDG Base Directory Specification.
        static var platformRoot: String { NSHomeDirectory() + "/.local/state" }
    }
#endif
