import Testing

@testable import Handshake

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

@Suite("What the file system says")
struct FileSystemTests {
    @Test(
        "each refusal of the operating system is the right error, and names the path",
        arguments: [
            (EACCES, "vault_denied"), (EPERM, "vault_denied"), (EROFS, "vault_denied"), (ELOOP, "vault_denied"),
            (ENOTDIR, "vault_denied"), (EISDIR, "vault_denied"), (ENXIO, "vault_denied"),
            (ENAMETOOLONG, "vault_denied"),
            (ENOENT, "vault_unavailable"), (ENOSPC, "vault_unavailable"), (EDQUOT, "vault_unavailable"),
            (EMFILE, "vault_unavailable"), (ENFILE, "vault_unavailable"), (EIO, "vault_unavailable"),
            (EFBIG, "vault_unavailable"), (ENOLCK, "vault_unavailable"),
        ])
    func failures(code: Int32, expected: String) {
        let error = SystemFailure(code: code).vaultError(at: "/the/path")
        #expect(error.code == expected)
        #expect("\(error)".contains("/the/path"))
    }

    @Test("a call that signals interrupt is repeated, another failure is not")
    func interruption() throws {
        var codes = [EINTR, EINTR, EINTR]
        let answer = try uninterrupted { () -> Int32 in
            guard let code = codes.popLast() else { return 5 }
            errno = code
            return -1
        }
        #expect(answer == 5 && codes.isEmpty)
        var calls = 0
        #expect(throws: SystemFailure(code: EIO)) {
            try uninterrupted { () -> Int32 in
                calls += 1
                errno = EIO
                return -1
            }
        }
        #expect(calls == 1)
    }

    #if os(Linux)
    @Test("a full disk is unavailable")
    func full() throws {
        let device = try Descriptor(path: "/dev/full", O_WRONLY)
        do throws(SystemFailure) {
            try device.writeAll([1, 2, 3])
            Issue.record("/dev/full took three bytes")
        } catch {
            #expect(error == SystemFailure(code: ENOSPC))
        }
    }
    #endif

    @Test(
        "a canonical key is read back, and nothing else is",
        arguments: [[], [""], ["a", "bc"], ["ab", "c"], ["👩‍🔬", "\0"]])
    func canonical(components: [String]) {
        for kind in VaultKey.Kind.allCases {
            let canonical = VaultKey(kind, components).canonical
            #expect(VaultKey(canonical: canonical) == VaultKey(kind, components))
            #expect(VaultKey(canonical: canonical + [0]) == nil)
            #expect(VaultKey(canonical: canonical + [255, 255, 255, 255]) == nil)
            #expect(VaultKey(canonical: canonical + [0, 0, 0, 1, 0xFF]) == nil)
        }
        #expect(VaultKey(canonical: []) == nil)
        #expect(VaultKey(canonical: [0, 0, 0, 1, 0x61]) == nil)
    }

    @Test("a record's name is 64 lower-case hexadecimal digits; its lock is the first 62 bits")
    func names() throws {
        let name = RecordName(digest: [UInt8](repeating: 0xAB, count: 32))
        #expect(name.text == String(repeating: "ab", count: 32))
        #expect(name.shard == "ab")
        #expect(name.lock == 0x2AEA_EAEA_EAEA_EAEA)
        #expect(RecordName(digest: [UInt8](repeating: 0xFF, count: 32)).lock == FileLocks.setup - 1)
        #expect(RecordName(name.text) == name)
        for text in ["", "ab", name.text.uppercased(), name.text + "ab", String(name.text.dropLast()) + "g"] {
            #expect(RecordName(text) == nil)
        }
    }
}
