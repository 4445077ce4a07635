import FerryCore

/// An option of the command line that sets one property of a request, `--NAME`. `ferry set` accepts it as `NAME=VALUE` if
/// the property of a listed download can be changed.
struct RequestOption<Options>: Sendable {
    /// The long name, without its dashes.
    let name: String
    let member: DownloadRequest.CodingKeys
    private let setProperty: @Sendable (Options, inout DownloadRequest, PlanningWorld) throws(UsageError) -> Void
    private let setChange: @Sendable (String, inout RequestChange, PlanningWorld) throws(UsageError) -> Void

    /// Sets the property from the command line. Throws if the value cannot be parsed or is out of bounds.
    func apply(_ options: Options, to request: inout DownloadRequest, _ world: PlanningWorld) throws(UsageError) {
        try setProperty(options, &request, world)
        try checkBounds(in: request, "--" + name)
    }

    /// Sets the property in a change of a listed download.
    ///
    /// - Parameter text: The text after `NAME=`; `auto` restores the manager's value.
    func change(_ text: String, in change: inout RequestChange, _ world: PlanningWorld) throws(UsageError) {
        try setChange(text, &change, world)
        try checkBounds(in: change.request, name + "=")
    }

    private func checkBounds(in request: DownloadRequest, _ option: String) throws(UsageError) {
        guard let bounds = request.exceededBounds(of: member) else { return }
        throw UsageError(
            bounds.isOpen
                ? "\(option) needs a number of \(bounds.least) or more"
                : "\(option) needs a number from \(bounds.least) to \(bounds.most)")
    }
}

// MARK: Forms

extension RequestOption {
    /// An option without a value.
    ///
    /// - Parameter value: The value of the property if the option is present.
    static func flag(
        _ name: String, _ given: any KeyPath<Options, Bool> & Sendable, _ member: DownloadRequest.CodingKeys,
        _ property: any WritableKeyPath<DownloadRequest, Bool> & Sendable, sets value: Bool = true
    ) -> Self {
        Self(name: name, member: member) { options, request, _ in
            if options[keyPath: given] { request[keyPath: property] = value }
        } setChange: { text, change, _ throws(UsageError) in
            change.set(member, property, try SetPlanner.flag((name, text)) == value)
        }
    }

    /// An option with a number, which has a default.
    static func number(
        _ name: String, _ given: any KeyPath<Options, Int> & Sendable, _ member: DownloadRequest.CodingKeys,
        _ property: any WritableKeyPath<DownloadRequest, Int> & Sendable
    ) -> Self {
        Self(name: name, member: member) { options, request, _ in
            request[keyPath: property] = options[keyPath: given]
        } setChange: { text, change, _ throws(UsageError) in
            let option = name + "="
            guard let number = Int(text) else { throw UsageError("\(option) needs a number") }
            change.set(member, property, number)
        }
    }

    /// An option whose text `read` parses. Without the option, the manager's value applies.
    static func text<Value>(
        _ name: String, _ given: any KeyPath<Options, String?> & Sendable, _ member: DownloadRequest.CodingKeys,
        _ property: any WritableKeyPath<DownloadRequest, Value?> & Sendable,
        _ read: @escaping @Sendable (PlanningWorld) -> (_ text: String, _ option: String) throws(UsageError) -> Value
    ) -> Self {
        Self(name: name, member: member) { options, request, world throws(UsageError) in
            guard let text = options[keyPath: given] else { return }
            request[keyPath: property] = try read(world)(text, "--" + name)
        } setChange: { text, change, world throws(UsageError) in
            change.set(member, property, text == "auto" ? nil : try read(world)(text, name + "="))
        }
    }

    /// An option whose text `read` parses without files of this machine. Without the option, the manager's value applies.
    static func text<Value>(
        _ name: String, _ given: any KeyPath<Options, String?> & Sendable, _ member: DownloadRequest.CodingKeys,
        _ property: any WritableKeyPath<DownloadRequest, Value?> & Sendable,
        _ read: @escaping @Sendable (_ text: String, _ option: String) throws(UsageError) -> Value
    ) -> Self {
        text(name, given, member, property) { _ in read }
    }
}
