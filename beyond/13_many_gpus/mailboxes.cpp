#include "mailboxes.hpp"

#include <cstring>
#include <exception>
#include <optional>

namespace reduction {

namespace {

/// Emulated devices are processes: what all of them reach is the host's memory, a part of which MPI lets them share.
class HostMailboxes final : public Mailboxes {
 public:
  HostMailboxes(Device& device, const RankKernel& kernel)
      : Mailboxes(device, kernel), bytes_(kernel.mailbox_bytes) {}
  ~HostMailboxes() override {
    // After an error the job ends; to take leave of a rank that is lost could take for ever.
    if (!ranks_ || std::uncaught_exceptions() != 0) return;
    const WaitLimit::Wait wait(ranks_->limit(), silent);
    MPI_Win_free(&window_);
  }

  bool share(const Ranks& ranks) override {
    void* own = nullptr;
    const WaitLimit::Wait wait(ranks.limit(), silent);
    mpi_check(MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes_), 1, MPI_INFO_NULL, ranks.communicator(),
                                      &own, &window_),
              "sharing the host's memory");
    ranks_ = ranks;
    std::memset(own, 0, bytes_);
    neighbours_.rank = static_cast<unsigned>(ranks.rank());
    neighbours_.mailboxes.clear();
    for (int rank = 0; rank < ranks.count(); ++rank) {
      MPI_Aint bytes = 0;
      int unit = 0;
      void* mailbox = nullptr;
      mpi_check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &mailbox), "sharing the host's memory");
      neighbours_.mailboxes.push_back(mailbox);
    }
    ranks.barrier();  // none sends before all are zero
    return true;
  }

 private:
  std::size_t bytes_;
  std::optional<Ranks> ranks_;
  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

Mailboxes::Mailboxes(Device& device, const RankKernel& kernel)
    : own_(device, kernel.mailbox_bytes), partial_(device, kernel.partial_bytes) {
  device.clear(own_.data(), kernel.mailbox_bytes);
  device.synchronize();
  neighbours_ = {0, {own_.data()}, partial_.data()};
}

std::unique_ptr<Mailboxes> make_mailboxes(Device& device, const RankKernel& kernel) {
  if (device.info().kind == DeviceKind::emulated) return std::make_unique<HostMailboxes>(device, kernel);
  return make_gpu_mailboxes(device, kernel);
}

}  // namespace reduction
