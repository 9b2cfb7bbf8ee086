import Logging

extension Logger.Level {
    /// What `_logLevel` stands for, in the order of the seed's levels: 1 critical, 2 error, 3 warning, 4 info, 5 debug,
    /// 6 and above everything. `nil`, for 0 and below, is as much as the rest of the program logs.
    init?(modelValue: Int64) {
        switch modelValue {
        case ...0: return nil
        case 1: self = .critical
        case 2: self = .error
        case 3: self = .warning
        case 4: self = .info
        case 5: self = .debug
        default: self = .trace
        }
    }
}
