import ArgumentParser

extension [CommandGroup] {
    /// The groups, with those of the same name joined at the position of the first. A door may add its command to an existing
    /// group.
    var joinedByName: [CommandGroup] {
        reduce(into: []) { groups, new in
            guard let index = groups.firstIndex(where: { $0.name == new.name }) else { return groups.append(new) }
            groups[index] = CommandGroup(name: new.name, subcommands: groups[index].subcommands + new.subcommands)
        }
    }
}
