import Testing

@testable import Handshake

@Suite("Network file systems")
struct NetworkFileSystemTests {
    @Test(
        "are told by what the kernel says of a folder's device",
        arguments: [
            ("0:44", "nfs4", 44), ("0:45", "fuse.sshfs", 45), ("7:300", "cifs", 0x10_072C),
            ("5000:1", "smb3", 0x1000_0003_8801),
        ] as [(String, String, UInt64)])
    func told(device: String, type: String, number: UInt64) {
        let line = "36 35 \(device) / /mnt rw,noatime master:1 - \(type) host:/share rw"
        let local = "22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw"
        #expect(NetworkFileSystem.name(ofDevice: number, in: "\(local)\n\(line)") == type)
        #expect(NetworkFileSystem.name(ofDevice: number, in: line.replacing(type, with: "xfs")) == nil)
        #expect(NetworkFileSystem.name(ofDevice: 0x801, in: "\(local)\n\(line)") == nil)
        for broken in [
            "", "\n\n", "36 35 \(device)", "36 35 \(device) / /mnt rw -", " - - -", "36 35 \(device) / /mnt rw - ",
        ] {
            #expect(NetworkFileSystem.name(ofDevice: number, in: broken) == nil)
        }
    }
}
