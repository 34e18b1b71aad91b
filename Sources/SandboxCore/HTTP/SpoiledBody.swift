#if Sandbox
import Hummingbird

/// Bodies of misbehaving services.
enum SpoiledBody {
    /// White space after an opening brace, a little every 20 ms, until writing fails or the sandbox stops.
    static var endless: ResponseBody {
        ResponseBody { writer in
            try await writer.write(ByteBuffer(string: "{"))
            while true {
                try await Task.sleep(for: .milliseconds(20))
                try await writer.write(ByteBuffer(string: "        "))
            }
        }
    }

    /// Valid JSON of exactly this many bytes.
    static func huge(_ count: Int) -> ResponseBody {
        ResponseBody(contentLength: count) { writer in
            let opening = #"{"padding":""#
            let closing = #""}"#
            let padding = max(0, count - opening.utf8.count - closing.utf8.count)
            if padding > 0 { try await writer.write(ByteBuffer(string: opening)) }
            var left = padding > 0 ? padding : count
            let chunk = ByteBuffer(repeating: UInt8(ascii: padding > 0 ? "a" : " "), count: 64 << 10)
            while left > 0 {
                let size = min(left, chunk.readableBytes)
                try await writer.write(
                    size == chunk.readableBytes ? chunk : ByteBuffer(chunk.readableBytesView.prefix(size)))
                left -= size
            }
            if padding > 0 { try await writer.write(ByteBuffer(string: closing)) }
            try await writer.finish(nil)
        }
    }
}
#endif
