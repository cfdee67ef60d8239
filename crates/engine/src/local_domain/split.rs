//! The split of work of \[Silva 2010, § 5.3\]: the cores do the broad phase of rigid bodies while a GPU lists fluids, and the GPU does all else.

use crate::gpu::{LISTS, PASSES};
use crate::guard::StepError;
use crate::local_domain::LocalDomain;
use crate::state::Profile;
use std::time::Instant;

impl LocalDomain {
    /// Finds on all cores which spheres of bodies may have contacts until the next rebuild of the lists of grains. At the same time the GPU rebuilds
    /// the lists of fluids, if these flags require it.
    pub(super) fn look_beside_fluids(&mut self, raised_by_fluids: u32) -> Result<(), StepError> {
        self.with_gpu_backend(|remote, host| remote.download_poses(host))?;
        let device = self.populations.context.device.clone();
        let (populations, remote) = (&mut self.populations, &mut self.backend.fluids);
        let (mut flow, mut of_gpu) = (populations.flow.take(), Profile::new(&PASSES));
        let ((listed, from), ()) = device.both(
            || {
                let listed = match (remote, &mut flow) {
                    (Some(remote), Some(flow)) => remote.rebuild_if_needed(flow, raised_by_fluids, &mut of_gpu),
                    _ => Ok(()),
                };
                (listed, Instant::now())
            },
            || populations.look_at_poses(),
        );
        let populations = &mut self.populations;
        populations.flow = flow;
        populations.profile.add_of_gpu(&of_gpu);
        // Only what the cores take longer than the GPU.
        populations.profile.add_on_gpu(LISTS, from, 0);
        listed.map_err(|error| self.gpu_failed(error.to_string()))
    }
}
