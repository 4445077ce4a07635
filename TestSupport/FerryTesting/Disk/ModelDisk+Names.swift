package import FerryEngine
package import SystemPackage

/// Operations on names.
extension ModelDisk {
    package func link(_ file: any File, to path: FilePath) throws(FileError) {
        guard let file = file as? ModelFile, file.disk === self else {
            throw FileError(.link, path, kind: .unsupported)
        }
        try link(file.inode, to: path)
    }

    package func link(_ from: FilePath, to path: FilePath) throws(FileError) {
        guard let inode = image.find(from) else {
            throw FileError(.link, path, errno: Errno.noSuchFileOrDirectory.rawValue)
        }
        try link(inode, to: path)
    }

    private func link(_ inode: UInt64, to path: FilePath) throws(FileError) {
        try step("link \(path)") { (state, tag) throws(FileError) in
            let (parent, name) = try state.free(path, for: .link)
            let before = state.image
            state.image.directories[parent]?.make(.link(name, inode), tag: tag)
            state.rules.named(name, inode, in: parent, before: before, state.image)
        }
    }

    package func rename(_ from: FilePath, to path: FilePath, replacing: Bool) throws(FileError) {
        try step("rename \(from) to \(path)") { (state, tag) throws(FileError) in
            guard let (parent, old) = state.image.place(from),
                let inode = state.image.directories[parent]?.names[old]
            else { throw FileError(.rename, from, errno: Errno.noSuchFileOrDirectory.rawValue) }
            guard let (target, name) = state.image.place(path) else {
                throw FileError(.rename, from, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            guard target == parent else { throw FileError(.rename, from, errno: Errno.improperLink.rawValue) }
            if !replacing, state.image.directories[parent]?.names[name] != nil {
                throw FileError(.rename, from, errno: Errno.fileExists.rawValue)
            }
            let before = state.image
            state.image.directories[parent]?.make(.rename(old, name, inode), tag: tag)
            state.rules.named(name, inode, from: old, in: parent, before: before, state.image)
        }
    }

    package func unlink(_ path: FilePath) throws(FileError) {
        try step("unlink \(path)") { (state, tag) throws(FileError) in
            guard let (parent, name) = state.image.place(path),
                let inode = state.image.directories[parent]?.names[name]
            else { throw FileError(.remove, path, errno: Errno.noSuchFileOrDirectory.rawValue) }
            if state.image.inodes[inode]?.isDirectory == true {
                throw FileError(.remove, path, errno: Errno.isDirectory.rawValue)
            }
            state.image.directories[parent]?.make(.unlink(name, inode), tag: tag)
            state.rules.unnamed(name, inode, in: parent, state.image)
        }
    }

    package func makeDirectory(_ path: FilePath) throws(FileError) {
        try step("make \(path)") { (state, tag) throws(FileError) in
            let (parent, name) = try state.free(path, for: .makeDirectory)
            let inode = state.image.add(
                ModelInode(isDirectory: true, mode: 0o755, modified: State.time(tag)), inUse: state.inUse)
            state.image.directories[inode] = ModelDirectory()
            state.image.directories[parent]?.make(.link(name, inode), tag: tag)
        }
    }

    package func removeDirectory(_ path: FilePath) throws(FileError) {
        try step("remove \(path)") { (state, tag) throws(FileError) in
            guard let (parent, name) = state.image.place(path), let inode = state.image.find(path) else {
                throw FileError(.remove, path, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            guard let entries = state.image.directories[inode] else {
                throw FileError(.remove, path, errno: Errno.notDirectory.rawValue)
            }
            guard entries.names.isEmpty else {
                throw FileError(.remove, path, errno: Errno.directoryNotEmpty.rawValue)
            }
            state.image.directories[parent]?.make(.unlink(name, inode), tag: tag)
        }
    }

    package func syncDirectory(_ path: FilePath) throws(FileError) {
        try step("sync \(path)") { (state, _) throws(FileError) in
            guard let directory = state.image.find(path), let entries = state.image.directories[directory] else {
                throw FileError(.syncDirectory, path, errno: Errno.noSuchFileOrDirectory.rawValue)
            }
            state.image.directories[directory]?.settle()
            for inode in entries.names.values { state.image.inodes[inode]?.settleBirth() }
        }
    }
}
