#if CommandLine
/// A QR code of bytes: versions 1 to 10, error correction L or M (ISO/IEC 18004).
struct QRCode: Sendable {
    /// How much of the code may be unreadable.
    enum Correction: Int, Sendable {
        /// About 7 %.
        case low = 1
        /// About 15 %.
        case medium = 0
    }

    /// 1 to 10.
    let version: Int
    /// The pattern that was laid over the data, 0 to 7.
    let mask: Int
    /// The modules row by row, without a quiet zone; true is dark.
    let modules: [[Bool]]

    /// The modules of a side: 21 for version 1, 4 more for each further one.
    var size: Int { modules.count }

    /// Encodes bytes in the smallest version that holds them, with the better correction where it costs nothing.
    ///
    /// Nil for more than 271 bytes, which is what version 10 holds.
    init?(_ bytes: [UInt8]) {
        guard let version = Self.smallest(for: bytes.count, .low) else { return nil }
        let correction: Correction = Self.smallest(for: bytes.count, .medium) == version ? .medium : .low
        self.init(bytes, version: version, correction: correction)
    }

    /// Encodes bytes in a given version. Nil when they do not fit, or the version or mask is none of these.
    ///
    /// - Parameter mask: 0 to 7; nil takes the one whose code has the fewest confusing patterns.
    init?(_ bytes: [UInt8], version: Int, correction: Correction, mask: Int? = nil) {
        guard (1...10).contains(version), mask.map((0...7).contains) ?? true,
            let layout = Self.blocks(of: version, correction),
            bytes.count <= Self.capacity(of: version, correction)
        else { return nil }
        let codewords = Self.interleaved(Self.data(of: bytes, version: version, length: layout.dataLength), layout)
        var grid = Grid(version: version)
        grid.place(codewords)
        let candidates = (mask.map { [$0] } ?? Array(0...7)).map {
            (mask: $0, modules: grid.masked(by: $0, correction))
        }
        guard let best = candidates.min(by: { Penalty.of($0.modules) < Penalty.of($1.modules) }) else { return nil }
        self.version = version
        self.mask = best.mask
        modules = best.modules
    }

    private static func smallest(for count: Int, _ correction: Correction) -> Int? {
        (1...10).first { count <= capacity(of: $0, correction) }
    }

    /// The bytes that fit: the data codewords without mode, length and their rest.
    private static func capacity(of version: Int, _ correction: Correction) -> Int {
        (blocks(of: version, correction)?.dataLength ?? 0) - (version < 10 ? 2 : 3)
    }
}

// MARK: Codewords

extension QRCode {
    /// How the codewords of a version are cut into blocks: table 9 of the standard.
    struct Layout {
        /// The error correction codewords of each block.
        let correctionLength: Int
        /// The lengths of the data blocks.
        let blocks: [Int]
        var dataLength: Int { blocks.reduce(0, +) }
    }

    fileprivate static func blocks(of version: Int, _ correction: Correction) -> Layout? {
        let low: [(Int, [(Int, Int)])] = [
            (7, [(1, 19)]), (10, [(1, 34)]), (15, [(1, 55)]), (20, [(1, 80)]), (26, [(1, 108)]), (18, [(2, 68)]),
            (20, [(2, 78)]), (24, [(2, 97)]), (30, [(2, 116)]), (18, [(2, 68), (2, 69)]),
        ]
        let medium: [(Int, [(Int, Int)])] = [
            (10, [(1, 16)]), (16, [(1, 28)]), (26, [(1, 44)]), (18, [(2, 32)]), (24, [(2, 43)]), (16, [(4, 27)]),
            (18, [(4, 31)]), (22, [(2, 38), (2, 39)]), (22, [(3, 36), (2, 37)]), (26, [(4, 43), (1, 44)]),
        ]
        let table = correction == .low ? low : medium
        guard table.indices.contains(version - 1) else { return nil }
        let (length, groups) = table[version - 1]
        return Layout(
            correctionLength: length, blocks: groups.flatMap { Array(repeating: $0.1, count: $0.0) })
    }

    /// The data codewords: byte mode, length, bytes, end, padding.
    fileprivate static func data(of bytes: [UInt8], version: Int, length: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for shift in (0..<count).reversed() { bits.append(value >> shift & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, version < 10 ? 8 : 16)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, max(0, length * 8 - bits.count)))
        append(0, (8 - bits.count % 8) % 8)
        var codewords = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for index in 0..<max(0, length - codewords.count) {
            codewords.append(index.isMultiple(of: 2) ? 0xEC : 0x11)
        }
        return codewords
    }

    /// The codewords as they are placed: of each block the first, of each the second, then the correction likewise.
    fileprivate static func interleaved(_ data: [UInt8], _ layout: Layout) -> [UInt8] {
        var rest = data[...]
        let blocks = layout.blocks.map { length in
            let block = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            return block
        }
        let corrections = blocks.map { ReedSolomon.correction(of: $0, length: layout.correctionLength) }
        func columns(_ rows: [[UInt8]]) -> [UInt8] {
            (0..<(rows.map(\.count).max() ?? 0)).flatMap { column in
                rows.compactMap { column < $0.count ? $0[column] : nil }
            }
        }
        return columns(blocks) + columns(corrections)
    }
}

/// The error correction of QR codes: Reed-Solomon over GF(256) with the polynomial 0x11D.
private enum ReedSolomon {
    /// The remainder of the block divided by the generator polynomial of this degree.
    static func correction(of block: [UInt8], length: Int) -> [UInt8] {
        let generator = generator(degree: length)
        var remainder = [UInt8](repeating: 0, count: length)
        for byte in block {
            let factor = byte ^ remainder.removeFirst()
            remainder.append(0)
            for index in remainder.indices { remainder[index] ^= product(generator[index], factor) }
        }
        return remainder
    }

    /// The coefficients of (x - 1)(x - 2)(x - 4)…, the highest power's left out.
    private static func generator(degree: Int) -> [UInt8] {
        var coefficients = [UInt8](repeating: 0, count: degree)
        coefficients[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                coefficients[index] = product(coefficients[index], root)
                if index + 1 < degree { coefficients[index] ^= coefficients[index + 1] }
            }
            root = product(root, 2)
        }
        return coefficients
    }

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var (result, left, right) = (UInt8(0), left, right)
        while right > 0 {
            if right & 1 == 1 { result ^= left }
            left = left << 1 ^ (left & 0x80 == 0 ? 0 : 0x1D)
            right >>= 1
        }
        return result
    }
}

// MARK: Modules

/// The square while it is filled.
private struct Grid {
    private let version: Int
    private let size: Int
    private var modules: [[Bool]]
    /// The modules that no data go to.
    private var reserved: [[Bool]]

    init(version: Int) {
        self.version = version
        size = version * 4 + 17
        modules = Array(repeating: Array(repeating: false, count: size), count: size)
        reserved = modules
        for (row, column) in [(0, 0), (0, size - 7), (size - 7, 0)] { placeFinder(row, column) }
        for index in 8..<size - 8 {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
        placeAlignments()
        placeFormat(0)
        placeVersion()
    }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        modules[row][column] = isDark
        reserved[row][column] = true
    }

    /// A finder pattern and the light line around it.
    private mutating func placeFinder(_ top: Int, _ left: Int) {
        for row in max(0, top - 1)...min(size - 1, top + 7) {
            for column in max(0, left - 1)...min(size - 1, left + 7) {
                let distance = max(abs(row - top - 3), abs(column - left - 3))
                set(row, column, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func placeAlignments() {
        let middles = [[], [18], [22], [26], [30], [34], [22, 38], [24, 42], [26, 46], [28, 50]][version - 1]
        guard let last = middles.last else { return }
        let centers = [6] + middles
        for row in centers {
            for column in centers
            where (row, column) != (6, 6) && (row, column) != (6, last) && (row, column) != (last, 6) {
                for down in -2...2 {
                    for right in -2...2 {
                        set(row + down, column + right, max(abs(down), abs(right)) != 1)
                    }
                }
            }
        }
    }

    /// Fifteen bits twice: correction and mask.
    private mutating func placeFormat(_ bits: Int) {
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0..<15 {
            let row = index < 6 ? index : index < 8 ? index + 1 : size - 15 + index
            set(row, 8, bit(index))
            let column = index < 8 ? size - 1 - index : index == 8 ? 7 : 14 - index
            set(8, column, bit(index))
        }
        set(size - 8, 8, true)
    }

    /// Eighteen bits twice, from version 7 on.
    private mutating func placeVersion() {
        guard version >= 7 else { return }
        let bits = version << 12 | Self.remainder(version << 12, by: 0x1F25)
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            set(index / 3, size - 11 + index % 3, isDark)
            set(size - 11 + index % 3, index / 3, isDark)
        }
    }

    /// The remainder of a polynomial over GF(2).
    private static func remainder(_ value: Int, by divisor: Int) -> Int {
        let degree = Int.bitWidth - divisor.leadingZeroBitCount
        var value = value
        while Int.bitWidth - value.leadingZeroBitCount >= degree {
            value ^= divisor << (Int.bitWidth - value.leadingZeroBitCount - degree)
        }
        return value
    }

    /// Places the codewords in columns of two, upwards and downwards, from the right. What is left over stays light.
    mutating func place(_ codewords: [UInt8]) {
        var index = 0
        var isUpwards = true
        for right in stride(from: size - 1, to: 0, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            for step in 0..<size {
                let row = isUpwards ? size - 1 - step : step
                for column in [right, right - 1] where !reserved[row][column] {
                    guard index < codewords.count * 8 else { continue }
                    modules[row][column] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            isUpwards.toggle()
        }
    }

    /// The finished modules under a mask.
    func masked(by mask: Int, _ correction: QRCode.Correction) -> [[Bool]] {
        var grid = self
        for row in 0..<size {
            for column in 0..<size where !reserved[row][column] && Self.isInverted(mask, row, column) {
                grid.modules[row][column].toggle()
            }
        }
        let format = correction.rawValue << 3 | mask
        grid.placeFormat((format << 10 | Self.remainder(format << 10, by: 0x537)) ^ 0x5412)
        return grid.modules
    }

    private static func isInverted(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: row * column % 2 + row * column % 3 == 0
        case 6: (row * column % 2 + row * column % 3) % 2 == 0
        default: ((row + column) % 2 + row * column % 3) % 2 == 0
        }
    }
}

/// What makes a code hard to read, as ISO/IEC 18004 rates it.
private enum Penalty {
    static func of(_ modules: [[Bool]]) -> Int {
        let columns = modules.indices.map { column in modules.map { $0[column] } }
        let lines = (modules + columns).reduce(0) { $0 + runs($1) + finders($1) }
        let dark = modules.reduce(0) { $0 + $1.count { $0 } }
        let total = modules.count * modules.count
        return lines + squares(modules) + abs(dark * 20 - total * 10) / total * 10
    }

    /// Five or more of one color in a line.
    private static func runs(_ line: [Bool]) -> Int {
        var (result, length) = (0, 0)
        for index in line.indices {
            length = index > 0 && line[index] == line[index - 1] ? length + 1 : 1
            if length == 5 { result += 3 } else if length > 5 { result += 1 }
        }
        return result
    }

    /// Squares of two by two of one color.
    private static func squares(_ modules: [[Bool]]) -> Int {
        var result = 0
        for row in modules.indices.dropLast() {
            for column in modules.indices.dropLast() {
                let color = modules[row][column]
                if modules[row][column + 1] == color, modules[row + 1][column] == color,
                    modules[row + 1][column + 1] == color
                {
                    result += 3
                }
            }
        }
        return result
    }

    /// What looks like a finder pattern with four light modules at a side.
    private static func finders(_ line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        var result = 0
        for start in 0...(line.count - 7) where Array(line[start..<start + 7]) == finder {
            let before = line[max(0, start - 4)..<start]
            let after = line[start + 7..<min(line.count, start + 11)]
            if !before.contains(true) || !after.contains(true) { result += 40 }
        }
        return result
    }
}
#endif
