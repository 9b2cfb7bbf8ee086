import IoTCore

/// The number of the error that `body` throws; `nil` if it throws none.
func errorCode(_ body: () throws(IoTError) -> Void) -> ErrorCode? {
    do throws(IoTError) {
        try body()
        return nil
    } catch {
        return error.code
    }
}
