import NIOCore

/// The playout calculates in whole microseconds, the unit of `MediaFrame.pts`.
extension NIODeadline {
    var playoutMicroseconds: Int64 {
        Int64(clamping: uptimeNanoseconds / 1_000)
    }

    init(playoutMicroseconds microseconds: Int64) {
        let limit = Int64.max / 1_000
        self = .uptimeNanoseconds(UInt64(max(0, min(microseconds, limit))) * 1_000)
    }
}

extension TimeAmount {
    var playoutMicroseconds: Int64 {
        nanoseconds / 1_000
    }
}

/// Times beyond this (about 1,100 years) are not from a real clock; below it, sums of a few times cannot overflow.
let playoutTimeLimit: Int64 = 1 << 55
