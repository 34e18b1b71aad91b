import Testing

@testable import HandshakeCLI

@Suite("QR codes")
struct QRCodeTests {
    /// A code made by segno 1.6.6 (PyPI), under each of the eight masks.
    struct Vector: Sendable, CustomTestStringConvertible {
        let text: String
        let version: Int
        let correction: QRCode.Correction
        let best: Int
        /// FNV-1a of the modules, written as 0 and 1, for each mask.
        let digests: [UInt64]
        var testDescription: String { "version \(version)" }

        init(_ text: String, _ version: Int, _ correction: QRCode.Correction, best: Int, _ digests: [UInt64]) {
            self.text = text
            self.version = version
            self.correction = correction
            self.best = best
            self.digests = digests
        }
    }

    static let vectors = [
        Vector(
            "https://a.example", 1, .low, best: 1,
            [
                0x0ee0_f867_a073_c909, 0xa89f_7e69_c4c0_1e03, 0x5855_a87f_44f8_507b, 0x068c_24b5_6ab4_eb65,
                0x2555_54e9_c35a_3b6f, 0xe786_035f_c774_bbf9, 0x272a_b414_5c00_c231, 0x1819_b5a6_d323_28c3,
            ]),
        Vector(
            "HTTPS://B.EXAMPLE", 2, .medium, best: 1,
            [
                0x9e40_0aa8_a255_784f, 0xb9eb_3f45_0161_0995, 0x38da_80dc_3556_1d01, 0x028d_79fb_c2f8_7827,
                0x40ef_4991_2611_0a99, 0xc21e_a686_7b82_97b4, 0xfad0_1a2e_239c_6ae3, 0xa930_ba8c_bfc1_b479,
            ]),
        Vector(
            "https://op.example/device?user_code=WDJB-MJHT", 3, .low, best: 0,
            [
                0xeb53_94be_8a17_990f, 0x86e1_df5d_2520_2cad, 0xb9f8_f03e_ae80_8ebc, 0x58a2_b6f1_0a29_0c17,
                0xb8e9_6151_fe9e_8e24, 0xd357_8df6_1b51_c504, 0xcc01_ec4a_c2aa_3a4f, 0xd048_2f5a_9465_e5a1,
            ]),
        Vector(
            "https://op.example/device?user_code=WDJB-MJHThttps://op.example/device?user_code=WDJB-MJHT", 6, .medium,
            best: 3,
            [
                0x9b29_fd56_d801_ebe1, 0xb78f_6b1e_3502_6e3b, 0x411e_676a_83a1_b83e, 0x3e83_40cf_81b1_ffed,
                0x8ad3_b674_6a52_ee6a, 0x073a_99b7_170c_fd4e, 0x6dd0_f634_8088_8f3d, 0x6483_7007_102e_c297,
            ]),
        Vector(
            "https://login.example/realms/one/device?user_code=WDJB-MJHT&x=abcdefghijabcdefghijabcdefghijabcdefghij", 7,
            .medium, best: 4,
            [
                0x1973_a410_c4a3_d2fb, 0xc36e_3744_fd22_e328, 0x23e0_6f69_c207_c7c1, 0x8d74_a848_2e28_30a3,
                0xde4b_a48a_ce59_aea5, 0x9e67_3ff8_3dd7_d49b, 0x3186_e326_e38a_2537, 0x0eda_50a1_25e8_b66d,
            ]),
        Vector(
            "https://login.example/01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789",
            10, .low, best: 2,
            [
                0xacc1_28b2_e4d8_828f, 0x872e_9846_ffe8_afe8, 0x1da6_98f8_fa4a_5661, 0x8a04_7e63_37a3_5887,
                0x20f6_b177_96d9_3635, 0x2f89_316f_a0a2_cdfb, 0xdbf8_9178_91b5_5553, 0x5b0b_b7d2_7d00_1209,
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

    @Test("take the mask that another encoder takes", arguments: vectors)
    func bestMask(_ vector: Vector) throws {
        let code = try #require(
            QRCode(Array(vector.text.utf8), version: vector.version, correction: vector.correction))
        #expect(code.mask == vector.best)
        #expect(Self.digest(code) == vector.digests[vector.best])
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
