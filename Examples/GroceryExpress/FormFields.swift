#if Server && Sandbox
import Foundation

/// A form as browsers send it (`application/x-www-form-urlencoded`).
struct FormFields {
    /// The fields by name; nil when they cannot be read or one comes twice.
    let values: [String: String]?

    init(_ text: String) {
        var values: [String: String] = [:]
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.decoded(parts[0]), let value = Self.decoded(parts[1]),
                values.updateValue(value, forKey: name) == nil
            else {
                self.values = nil
                return
            }
        }
        self.values = values
    }

    private static func decoded(_ text: Substring) -> String? {
        String(text).replacingOccurrences(of: "+", with: " ").removingPercentEncoding
    }
}
#endif
