import ArgumentParser

/// What all commands of remote control have in common.
struct RemoteFlags: ParsableArguments {
    @Flag(help: "Write answers as lines of JSON.")
    var json = false
}
