import FerryTerminal
import Foundation

// Descriptors first: nothing may be opened before 0, 1 and 2 exist. Arguments next: what is secret in them is blanked
// before anything slow happens.
Program.prepare()
exit(await FerryCommand.main(arguments: CommandArguments.take()).rawValue)
