import Testing

@testable import HandshakeCLI

@Suite("QR codes")
struct QRCodeTests {
    /// A code made by qrcode 8.2 (PyPI), under each of the eight masks.
    struct Vector: Sendable, CustomTestStringConvertible {
        let text: String
        let version: Int
        let correction: QRCode.Correction
        /// FNV-1a of the modules, written as 0 and 1, for each mask.
        let digests: [UInt64]
        var testDescription: String { "version \(version)" }

        init(_ text: String, _ version: Int, _ correction: QRCode.Correction, _ digests: [UInt64]) {
            self.text = text
            self.version = version
            self.correction = correction
            self.digests = digests
        }
    }

    static let vectors = [
        Vector(
            "https://a.example", 1, .low,
            [
                0x0ee0_f867_a073_c909, 0xa89f_7e69_c4c0_1e03, 0x5855_a87f_44f8_507b, 0x068c_24b5_6ab4_eb65,
                0x2555_54e9_c35a_3b6f, 0xe786_035f_c774_bbf9, 0x272a_b414_5c00_c231, 0x1819_b5a6_d323_28c3,
            ]),
        Vector(
            "HTTPS://B.EXAMPLE", 2, .medium,
            [
                0x72c8_99cf_ea3e_0361, 0xf15c_95db_d9a2_e487, 0x72ca_eae2_26e8_b2cf, 0x57ca_9fd3_448c_bd8d,
                0xe41d_06e4_24bf_cd7b, 0xecd3_e16f_822b_0d06, 0x0e58_16fe_bd12_4269, 0x2070_6c33_5db8_3913,
            ]),
        Vector(
            "https://op.example/device?user_code=WDJB-MJHT", 3, .low,
            [
                0x4b1f_fb57_de06_81e5, 0x3095_0536_13b0_2f83, 0x5c54_e012_f9ef_e1f2, 0x5bc4_0f05_7e56_6ded,
                0xa082_5f42_c62b_d7fa, 0x1a86_3e9b_76da_4d0e, 0x740a_cf74_9c0c_5ff9, 0xa467_cb37_ed6f_cf27,
            ]),
        Vector(
            "https://op.example/device?user_code=WDJB-MJHThttps://op.example/device?user_code=WDJB-MJHT", 6, .medium,
            [
                0x8aa3_a7ee_080d_d46f, 0xedaa_e208_5cfc_374d, 0xd754_3645_4866_fdc0, 0x23a2_f340_d679_bcbb,
                0xf4e0_935f_16e3_4cfc, 0xfcff_83b0_1210_a830, 0x4f2f_fb82_6fe6_39e3, 0xbac2_82f0_6fc5_4121,
            ]),
        Vector(
            "https://login.example/realms/one/device?user_code=WDJB-MJHT&x=abcdefghijabcdefghijabcdefghijabcdefghij", 7,
            .medium,
            [
                0x8f6f_eb12_0f17_19e7, 0x5a26_a165_4af6_3c04, 0x7f1f_0ba6_c67d_c575, 0x9b27_f860_73c6_994b,
                0x20aa_2565_9e50_c919, 0x419f_543f_adde_5333, 0x83af_d026_bd53_02cb, 0x61c4_07f2_ee77_7c85,
            ]),
        Vector(
            "https://login.example/01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
            10, .low,
            [
                0xb3bd_4eae_1e7f_5bf9, 0xcf75_8542_5a10_0b4a, 0x1a15_9737_54fa_0d53, 0xb65f_1ad3_569d_f1c1,
                0x89a5_c5ed_80d8_0d47, 0x0e79_f12d_6325_4321, 0x6b48_476d_78d3_408d, 0x78c1_5bf6_6c02_7297,
            ]),
    ]

    private static func digest(_ code: QRCode?) -> UInt64? {
        code?.modules.joined().reduce(0xcbf2_9ce4_8422_2325 as UInt64) {
            ($0 ^ ($1 ? 0x31 : 0x30)) &* 0x100_0000_01b3
        }
    }

    @Test("are those of another encoder, module by module, under every mask", arguments: vectors)
    func modules(_ vector: Vector) {
        let bytes = Array(vector.text.utf8)
        for (mask, digest) in vector.digests.enumerated() {
            let code = QRCode(bytes, version: vector.version, correction: vector.correction, mask: mask)
            #expect(Self.digest(code) == digest, "mask \(mask)")
        }
    }

    @Test("without a mask are those of one of the eight", arguments: vectors)
    func bestMask(_ vector: Vector) throws {
        let code = try #require(
            QRCode(Array(vector.text.utf8), version: vector.version, correction: vector.correction))
        #expect(Self.digest(code) == vector.digests[code.mask])
    }

    @Test(
        "are as small as the bytes allow, and there is none beyond version 10",
        arguments: [(0, 1), (17, 1), (18, 2), (32, 2), (33, 3), (106, 5), (107, 6), (230, 9), (231, 10), (271, 10)])
    func smallest(_ count: Int, _ version: Int) {
        #expect(QRCode(Array(repeating: 0x61, count: count))?.version == version)
        #expect(QRCode(Array(repeating: 0x61, count: 272)) == nil)
    }

    @Test("have a quiet zone of four modules, and are left out where the terminal is too small")
    func picture() throws {
        let code = try #require(QRCode(Array("https://a.example".utf8)))
        let picture = try #require(code.picture(columns: 29, rows: 16))
        let lines = picture.split(separator: "\n").map { line in
            line.replacing("\u{1B}[38;5;16;48;5;231m", with: "").replacing("\u{1B}[0m", with: "")
        }
        #expect(lines.count == 15)
        #expect(lines.allSatisfy { $0.count == 29 })
        #expect(lines.prefix(2).allSatisfy { $0.allSatisfy { $0 == " " } })
        #expect(lines[2].prefix(11) == "    █▀▀▀▀▀█")
        #expect(code.picture(columns: 28, rows: 16) == nil)
        #expect(code.picture(columns: 29, rows: 15) == nil)
    }
}
