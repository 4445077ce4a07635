import ArgumentParser

extension [CommandGroup] {
    /// The groups, those with the same name joined in the place of the first, because a door may add its command to a group of
    /// others.
    var joinedByName: [CommandGroup] {
        reduce(into: []) { groups, new in
            guard let index = groups.firstIndex(where: { $0.name == new.name }) else { return groups.append(new) }
            groups[index] = CommandGroup(name: new.name, subcommands: groups[index].subcommands + new.subcommands)
        }
    }
}
