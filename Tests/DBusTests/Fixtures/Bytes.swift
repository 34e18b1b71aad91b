/// Bytes written by hand: hexadecimal digits, with spaces and line breaks where they help; `'text'` stands for its UTF-8.
func bytes(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    for (index, part) in text.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
        if index % 2 == 1 {
            result += Array(part.utf8)
        } else {
            let digits = part.filter { !$0.isWhitespace }
            var rest = digits[...]
            while !rest.isEmpty {
                result.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
                rest = rest.dropFirst(2)
            }
        }
    }
    return result
}

/// `text` as often as `count` says.
func zeros(_ count: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: count)
}
