#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A folder of small files that only its owner can read: mode 0700, files 0600.
///
/// Files are replaced atomically, but not synchronised to storage: a cache lost in a power cut is fetched again, and readers
/// validate what they read.
struct PrivateFolder: Sendable {
    let path: String

    /// Opens the folder; creates it and its missing parents.
    ///
    /// - Throws: ``RecurseCenterError/disk(path:reason:)``, also when it is a symbolic link or belongs to another user.
    init(_ path: String) throws(RecurseCenterError) {
        self.path = path
        try Self.make(path)
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Self.failure(path) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw .disk(path: path, reason: "it is not a folder") }
        guard status.st_uid == geteuid() else { throw .disk(path: path, reason: "it belongs to another user") }
        guard status.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw Self.failure(path) }
    }

    private static func make(_ path: String) throws(RecurseCenterError) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw failure(path) }
        try make(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path) }
    }

    /// The names of the files, unordered, without unfinished ones.
    func names() throws(RecurseCenterError) -> [String] {
        guard let folder = opendir(path) else { throw Self.failure(path) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    /// A file's contents; nil when there is none, or it is longer than `limit`.
    func contents(_ name: String, limit: Int) -> [UInt8]? {
        let descriptor = open(file(name), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            filled += count
        }
        return bytes
    }

    /// Replaces a file.
    func write(_ bytes: [UInt8], to name: String) throws(RecurseCenterError) {
        let partial = file(".\(name).\(String(UInt64.random(in: .min ... .max), radix: 16))")
        let descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(file(name)) }
        let failure = Self.write(bytes, to: descriptor) ?? (close(descriptor) == 0 ? nil : errno)
        if failure == nil, rename(partial, file(name)) == 0 { return }
        let reason = failure ?? errno
        unlink(partial)
        throw .disk(path: file(name), reason: String(cString: strerror(reason)))
    }

    /// Removes a file. Idempotent.
    func remove(_ name: String) throws(RecurseCenterError) {
        guard unlink(file(name)) == 0 || errno == ENOENT else { throw Self.failure(file(name)) }
    }

    func file(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes all bytes; on failure closes the descriptor and returns the error number.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                let reason = count < 0 ? errno : EIO
                close(descriptor)
                return reason
            }
            rest = rest.dropFirst(count)
        }
        return nil
    }

    private static func failure(_ path: String) -> RecurseCenterError {
        .disk(path: path, reason: String(cString: strerror(errno)))
    }
}

private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
