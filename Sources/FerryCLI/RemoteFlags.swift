import ArgumentParser

/// Flags of all commands that use the daemon.
struct RemoteFlags: ParsableArguments {
    @Flag(help: "Write results as lines of JSON.")
    var json = false
}
