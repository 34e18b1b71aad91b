// Linux knows no versions of Apple's platforms. These stand before the standard library's own members, which need macOS 26 and iOS 26, so
// that a use of one is a warning, and so a failure.

extension Array {
    @available(*, deprecated, message: "Array.span needs macOS 26: take the span of a slice")
    var span: Swift.Span<Element> {
        @_lifetime(borrow self) borrowing get { fatalError() }
    }

    @available(*, deprecated, message: "Array.mutableSpan needs macOS 26: take the span of its mutable buffer")
    var mutableSpan: Swift.MutableSpan<Element> {
        @_lifetime(&self) mutating get { fatalError() }
    }
}

extension String.UTF8View {
    @available(*, deprecated, message: "String.UTF8View.span needs macOS 26: take its contiguous storage's")
    var span: Swift.Span<UInt8> {
        @_lifetime(borrow self) borrowing get { fatalError() }
    }
}

extension Substring.UTF8View {
    @available(*, deprecated, message: "Substring.UTF8View.span needs macOS 26: take its contiguous storage's")
    var span: Swift.Span<UInt8> {
        @_lifetime(borrow self) borrowing get { fatalError() }
    }
}
