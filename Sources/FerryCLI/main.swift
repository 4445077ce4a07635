import FerryTerminal

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// Descriptors first: no file may be opened before 0, 1 and 2 exist. Secrets in the arguments are then overwritten
// before anything slow happens.
Program.prepare()
exit(await FerryCommand.main(program: CommandLine.arguments.first ?? "", arguments: CommandArguments.take()))
