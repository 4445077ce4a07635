import ArgumentParser

/// Flags of all commands that use the daemon.
package struct RemoteFlags: ParsableArguments {
    @Flag(help: "Write results as lines of JSON.")
    package var json = false

    package init() {}
}
