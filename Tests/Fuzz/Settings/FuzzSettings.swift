import Budget
import OAuth

/// Bytes of a settings file. What fails, or takes longer than the time budget, ends the process, and the fuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    read(bytes)
    Budget(length: Settings.File.sizeLimit).check(UInt8(ascii: "S"), bytes, read)
    return 0
}

/// Stand-ins for what the linked files name and reading does not reach.
struct Settings {
    static func absolute(_ path: String) -> String { path }
}

enum GivenFile {
    static func name(_ path: String) -> String { path }
}

/// What is read is text of this file; an error is short, fit for a terminal, and names the file.
private func read(_ bytes: [UInt8]) {
    do throws(CommandError) {
        let file = try Settings.File(bytes, path: "config.toml")
        for service in (file.services ?? [:]).values {
            require((service.scope?.count ?? 0) <= bytes.count, "more scopes than bytes")
        }
    } catch {
        require(error.status == .usage && error.message.contains("config.toml"), error.message)
        require(error.message.utf8.count < 16_384, "an error is long")
        require(
            error.message.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
            }, "an error controls the terminal")
    }
}
