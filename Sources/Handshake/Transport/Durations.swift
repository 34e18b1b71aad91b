extension Duration {
    /// The whole duration in nanoseconds, at most what 64 bits hold.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isTooLong) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || isTooLong ? .max : sum
    }
}
