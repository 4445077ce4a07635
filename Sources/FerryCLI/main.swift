import FerryTerminal

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

// The descriptors come first: no file may be opened before descriptors 0, 1 and 2 exist. Secrets in the arguments are then
// overwritten before anything slow happens.
Program.prepare()
guard let words = CommandArguments.take(emulating: Doors.programs) else { exit(Program.withoutArguments().rawValue) }
exit(await FerryCommand.main(program: words.program, arguments: words.arguments))
