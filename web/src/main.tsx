import {render} from 'preact';
import {App} from './app.tsx';
import {followLinks} from './router.ts';
import {startClock} from './ui/clock.ts';
import './styles/main.css';

followLinks();
startClock();
render(<App />, document.getElementById('app')!);
