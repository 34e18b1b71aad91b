#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An open folder: reads, replaces and removes whole files in it, and trusts none before it has looked.
///
/// All names are taken relative to the folder that was opened, so a path that is redirected later has no effect.
struct Folder: ~Copyable, Sendable {
    /// What follows a file's name while its next contents are being written.
    static let unfinishedSuffix = ".new"

    let path: String
    let descriptor: Descriptor

    private init(path: String, descriptor: consuming Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a folder by its path.
    ///
    /// - Parameters:
    ///   - isOurs: whether the folder must be a real one of ours, closed to others. Folders above it may be
    ///     anyone's, and links.
    ///   - narrows: whether a folder of ours that other users may use is closed to them, instead of being refused.
    /// - Returns: nil when there is none.
    static func open(_ path: String, isOurs: Bool, narrows: Bool = false) throws(VaultError) -> Folder? {
        let descriptor: Descriptor
        do throws(SystemFailure) {
            descriptor = try Descriptor(path: path, O_RDONLY | O_DIRECTORY | (isOurs ? O_NOFOLLOW : 0))
        } catch {
            if error.code == ENOENT { return nil }
            throw error.vaultError(at: path)
        }
        let folder = Folder(path: path, descriptor: descriptor)
        if narrows { try folder.narrow() }
        if isOurs { try folder.requireOurs() }
        return folder
    }

    /// Closes a folder of ours to other users. Another user's stays as it is.
    private func narrow() throws(VaultError) {
        try describing(path) { () throws(SystemFailure) in
            let status = try descriptor.status()
            guard status.owner == UInt32(geteuid()), status.mode & 0o077 != 0 else { return }
            _ = try uninterrupted { fchmod(descriptor.number, 0o700) }
        }
    }

    /// Opens a folder by its path; makes it, and those above it that are missing, with mode 0700.
    static func openOrMake(_ path: String, isOurs: Bool, narrows: Bool = false) throws(VaultError) -> Folder {
        if let folder = try open(path, isOurs: isOurs, narrows: narrows) { return folder }
        let (above, name) = split(path)
        let parent = try openOrMake(above, isOurs: false)
        try parent.makeFolder(name)
        guard let folder = try open(path, isOurs: isOurs, narrows: narrows) else {
            throw SystemFailure(code: ENOENT).vaultError(at: path)
        }
        return folder
    }

    /// A path's folder and its last component. Slashes at the end are not part of a name.
    static func split(_ path: String) -> (folder: String, name: String) {
        let path = trimmed(path)
        guard let slash = path.lastIndex(of: "/") else { return (".", path) }
        return (slash == path.startIndex ? "/" : String(path[..<slash]), String(path[path.index(after: slash)...]))
    }

    /// A path without the slashes at its end, which would make the system follow a symbolic link.
    static func trimmed(_ path: String) -> String {
        var path = path
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return path
    }

    /// Refuses a folder that others may use, that is another user's, or that was removed after it was opened.
    func requireOurs() throws(VaultError) {
        let status = try describing(path) { () throws(SystemFailure) in try descriptor.status() }
        guard status.names > 0 else { throw SystemFailure(code: ENOENT).vaultError(at: path) }
        try status.requireOurFolder(at: path)
    }

    /// What distinguishes this folder from every other, whatever path leads to it.
    func identity() throws(VaultError) -> FileStatus.Identity {
        try describing(path) { () throws(SystemFailure) in try descriptor.status().identity }
    }

    /// Opens a folder of ours in this one; nil when there is none.
    func folder(_ name: String) throws(VaultError) -> Folder? {
        guard let opened = try existing(name, O_RDONLY | O_DIRECTORY) else { return nil }
        let folder = Folder(path: path(of: name), descriptor: opened)
        try folder.requireOurs()
        return folder
    }

    /// Opens what has a name in this folder, not following it; nil when there is nothing.
    func existing(_ name: String, _ flags: Int32) throws(VaultError) -> Descriptor? {
        do throws(SystemFailure) {
            return try Descriptor(name, in: descriptor, flags)
        } catch {
            if error.code == ENOENT { return nil }
            throw error.vaultError(at: path(of: name))
        }
    }

    /// Makes a folder with mode 0700, durably. One that is there already is no error.
    func makeFolder(_ name: String) throws(VaultError) {
        do throws(SystemFailure) {
            _ = try uninterrupted { mkdirat(descriptor.number, name, 0o700) }
        } catch {
            if error.code == ENOENT { throw .unavailable("the folder “\(path(of: name))” cannot be created") }
            guard error.code == EEXIST else { throw error.vaultError(at: path(of: name)) }
        }
        try synchronize()
    }

    /// The names in this folder, in no order, without `.` and `..`.
    func names() throws(VaultError) -> [String] {
        let number = try describing(path) { () throws(SystemFailure) in
            try uninterrupted { openat(descriptor.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        }
        // From here on the stream owns the descriptor.
        guard let stream = fdopendir(number) else {
            let failure = SystemFailure(code: errno)
            close(number)
            throw failure.vaultError(at: path)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // In place: the entry may be shorter than its type says, so it must not be copied.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { names.append(name) }
        }
        guard errno == 0 else { throw SystemFailure(code: errno).vaultError(at: path) }
        return names
    }

    /// Waits until the names in this folder are on the storage itself.
    func synchronize() throws(VaultError) {
        try describing(path) { () throws(SystemFailure) in try descriptor.synchronize() }
    }

    func path(of name: String) -> String {
        path == "/" ? "/\(name)" : "\(path)/\(name)"
    }

    /// Gives a system call's refusal its place.
    func describing<Value: ~Copyable>(
        _ path: String, _ call: () throws(SystemFailure) -> Value
    ) throws(VaultError) -> Value {
        do {
            return try call()
        } catch {
            throw error.vaultError(at: path)
        }
    }
}
